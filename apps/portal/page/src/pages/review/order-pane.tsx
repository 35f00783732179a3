import { ArrowLeft, X } from 'lucide-react';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import type { ListedOrder, OrderDetail, ReviewState } from '../../api/review.ts';
import { useNotices } from '../../components/notices.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Ago, fullTime } from '../../components/time.tsx';
import { useTitle } from '../../components/title.ts';
import { CrossHighlightArea } from './cross-highlight.tsx';
import type { Editing } from './field-row.tsx';
import { firstWarnedField } from './fields.ts';
import { OrderFields } from './order-fields.tsx';
import { OrderHistory } from './order-history.tsx';
import { FIRST_WARNED } from './order-marks.ts';
import { RawPayload } from './raw-payload.tsx';
import { ResendPanel } from './resend-panel.tsx';
import { ReviewButtons } from './review-buttons.tsx';
import { useMediaQuery, WIDE_SCREEN } from './use-media-query.ts';
import { useOrder } from './use-order.ts';

interface OrderPaneProps {
  accountId: number;
  orderId: number;
  /** The order from the list, shown until the full order is loaded. */
  listed: ListedOrder | undefined;
  /** The optimistic state after an action on this page. */
  movedTo: ReviewState | undefined;
  editing: string | null;
  onEdit: (pointer: string | null) => void;
  onLoaded: (order: ListedOrder) => void;
  onReview: (to: ReviewState) => void;
  onClose: () => void;
}

/** One order, beside the list or, on a narrow screen, instead of it. */
export function OrderPane(props: OrderPaneProps): ReactNode {
  const { accountId, orderId, listed, movedTo, editing, onEdit, onLoaded, onReview, onClose } = props;
  const { t } = useTranslation('review');
  const { detail, edit, decision } = useOrder(accountId, orderId, onLoaded);
  const order = detail.data?.order ?? listed;
  useTitle(order?.order_number);
  const pane = useRef<HTMLElement>(null);
  const isWide = useMediaQuery(WIDE_SCREEN);
  const notices = useNotices();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newly opened order is scrolled to its top and, if it replaces the list, focused.
  useEffect(() => {
    pane.current?.scrollTo(0, 0);
    if (!isWide) pane.current?.focus();
  }, [orderId]);
  // The list does not contain warnings, so this waits for the full order.
  const resolveFirst = useEffectEvent((loaded: OrderDetail) => onEdit(firstWarnedField(loaded.order)));
  useEffect(() => {
    if (editing === FIRST_WARNED && detail.data) resolveFirst(detail.data);
  }, [editing, detail.data]);
  const state = movedTo ?? detail.data?.review.state ?? order?.review_state;
  const erasedAt = detail.data?.erased_at ?? null;
  const isEditable = state === 'needs_review' && erasedAt === null;
  const editor: Editing = {
    pointer: isEditable && editing !== FIRST_WARNED ? editing : null,
    begin: isEditable ? onEdit : null,
    end: () => onEdit(null),
    save: (edits) => edit.mutate(edits, { onSuccess: () => onEdit(null) }),
  };
  const onDecide = (choice: Parameters<typeof decision.mutate>[0]) => {
    // A resend must not overwrite a value that is typed but not saved.
    if (editor.pointer !== null) return notices.show({ kind: 'bad', text: t('notice.editing') });
    return decision.mutate(choice, { onSuccess: () => notices.show({ text: t(`notice.${choice.decision}`) }) });
  };
  return (
    <section ref={pane} className="order-pane" tabIndex={-1} aria-label={t('order.label', { id: orderId })}>
      <header className="order-head">
        <button
          type="button"
          className="icon-button"
          aria-label={t('order.close')}
          title={t('order.close')}
          onClick={onClose}
        >
          {isWide ? <X aria-hidden="true" size={18} /> : <ArrowLeft aria-hidden="true" size={20} className="flips" />}
        </button>
        <h2>
          <bdi dir="auto">{order?.order_number ?? `#${orderId}`}</bdi>
        </h2>
        {order && (
          <p className="hint order-origin">
            <span className="badge">{t(`common:channel.${order.channel}`)}</span> <Ago at={order.received_at} />
          </p>
        )}
        {state && <Actions state={state} onReview={onReview} />}
      </header>
      {detail.data && state === detail.data.review.state && <ReviewNote review={detail.data.review} />}
      {erasedAt !== null && <p className="note">{t('order.erased', { time: fullTime(erasedAt) })}</p>}
      {detail.isError && (
        <OrderProblem error={detail.error} isThere={order !== undefined} retry={() => void detail.refetch()} />
      )}
      {order && (
        <CrossHighlightArea key={orderId}>
          {detail.data && (
            <ResendPanel
              detail={detail.data}
              state={state ?? detail.data.review.state}
              isBusy={decision.isPending}
              onDecide={onDecide}
            />
          )}
          <div className="order-columns">
            <OrderFields order={order} fullOrder={detail.data?.order} editing={editor} />
            <Raw detail={detail.data} />
            {detail.data && <OrderHistory history={detail.data.history} />}
          </div>
        </CrossHighlightArea>
      )}
    </section>
  );
}

function Actions({ state, onReview }: { state: ReviewState; onReview: (to: ReviewState) => void }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <div className="row order-actions">
      {state === 'confirmed' && <span className="badge badge-good">{t('state.confirmed')}</span>}
      {state === 'rejected' && <span className="badge badge-bad">{t('state.rejected')}</span>}
      <ReviewButtons state={state} onReview={onReview} />
    </div>
  );
}

function ReviewNote({ review: { state, by, at, reason } }: { review: OrderDetail['review'] }): ReactNode {
  const { t } = useTranslation('review');
  if (state === 'needs_review' || by === null || at === null) return null;
  return (
    <div className="note">
      <p>
        {t(`order.${state}`)} <bdi dir="ltr">{by}</bdi>, <Ago at={at} />
        {reason !== null && (
          <>
            : <q dir="auto">{reason}</q>
          </>
        )}
      </p>
    </div>
  );
}

function Raw({ detail }: { detail: OrderDetail | undefined }): ReactNode {
  const { t } = useTranslation('review');
  if (detail?.raw) return <RawPayload text={detail.raw.text} warnings={detail.order.warnings} />;
  return <p className="hint raw">{detail ? t('raw.gone') : t('common:state.loading')}</p>;
}

function OrderProblem({ error, isThere, retry }: { error: unknown; isThere: boolean; retry: () => void }): ReactNode {
  const { t } = useTranslation('review');
  if (!isProblem(error, 'order_not_found') || isThere) return <ProblemNote error={error} retry={retry} />;
  return <p className="note">{t('common:problem.order_not_found')}</p>;
}
