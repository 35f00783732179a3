import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListedOrder, ReviewState } from '../../../api/review.ts';
import { useCan } from '../../../api/session.ts';
import { useUnsavedEdits } from '../../../components/drafts.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useTitle } from '../../../components/page-header.tsx';
import { fullTime } from '../../../components/time.tsx';
import { useEditing } from '../edit/use-editing.ts';
import { FIRST_WARNED } from '../name-of-order.ts';
import { OrderPrint } from '../print/order-print.tsx';
import { useShortcuts } from '../shortcuts.tsx';
import { SnoozeDialog, SnoozeNote } from '../snooze/snooze.tsx';
import { useMediaQuery, WIDE_SCREEN } from '../use-media-query.ts';
import { CancellationPanel } from './cancellation-panel.tsx';
import { usableVersion } from './changed-delivery-panel.tsx';
import { OrderActions, type OrderActionsProps } from './order-actions.tsx';
import { OrderBody, OrderSkeleton } from './order-body.tsx';
import { OrderHead, OrderMenu } from './order-head.tsx';
import { LoadProblem, OrderViewers, PrintedNote, ReviewNote } from './order-status.tsx';
import { RecallDialog } from './recall-dialog.tsx';
import { useOrder } from './use-order.ts';
import './order-parts.css';

interface OrderPaneProps extends Pick<OrderActionsProps, 'onReview' | 'onPrevious' | 'onNext' | 'position'> {
  accountId: number;
  orderId: number;
  /** The order from the list, named until the full order is loaded. */
  listed: ListedOrder | undefined;
  /** The state after an action on this page or, as the list reports it, by somebody else. */
  movedTo: ReviewState | undefined;
  /** Within how many minutes an order is to be decided. */
  target: number | null | undefined;
  /** Other reviewers who have the order open. */
  viewers?: readonly string[] | undefined;
  /** Whether the event that is handled was meant for what is shown. */
  isDeliberate: () => boolean;
  /** Whether single-key shortcuts are on. */
  hasKeys: boolean;
  editing: string | null;
  onEdit: (pointer: string | null) => void;
  /** The open order was snoozed, and has left the list. */
  onSnoozed: () => void;
  isPrinting: boolean;
  onPrint: (isOn: boolean) => void;
  /** What became of the latest decisions, if the order covers the list. */
  strip: ReactNode;
  onLoaded: (order: ListedOrder) => void;
  onClose: () => void;
}

/** One order, beside the list or, on a narrow screen, instead of it. */
export default function OrderPane(props: OrderPaneProps): ReactNode {
  const { accountId, orderId, listed, movedTo, viewers = [], hasKeys, editing, onEdit, isPrinting, onPrint } = props;
  const { onLoaded, onClose } = props;
  const { t } = useTranslation('review');
  const mayReview = useCan()('review');
  const { detail, accept, reload, decision } = useOrder(accountId, orderId, onLoaded);
  const order = detail.data?.order ?? listed;
  useTitle(order?.order_number);
  const hasUnsavedEdit = useUnsavedEdits();
  const pane = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isWide = useMediaQuery(WIDE_SCREEN);
  const [recalling, setRecalling] = useState<number | null>(null);
  const [snoozing, setSnoozing] = useState<number | null>(null);
  const notices = useNotices();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newly opened order is scrolled to its top and, if it replaces the list, focused.
  useEffect(() => {
    content.current?.scrollTo(0, 0);
    if (!isWide) pane.current?.focus();
  }, [orderId]);
  const state = movedTo ?? detail.data?.review.state ?? order?.review_state;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a decision that the list reports is loaded at once, to say who made it.
  useEffect(() => {
    if (movedTo !== undefined && movedTo !== detail.data?.review.state) void detail.refetch();
  }, [movedTo]);
  const erasedAt = detail.data?.erased_at ?? null;
  const isEditable = mayReview && state === 'needs_review' && erasedAt === null;
  const editor = useEditing({ orderId, detail, isEditable, wanted: editing, onEdit, accept, reload });
  const onDecide = (choice: Parameters<typeof decision.mutate>[0]) => {
    if (!props.isDeliberate()) return;
    // A changed delivery must not overwrite a value that is typed but not saved.
    if (hasUnsavedEdit(orderId)) return notices.show({ kind: 'bad', text: t('notice.editing') });
    return decision.mutate(choice, { onSuccess: () => notices.show({ text: t(`notice.${choice.decision}`) }) });
  };
  const version = mayReview && detail.data && usableVersion(detail.data, state ?? detail.data.review.state);
  // While an editor is about to open, letters are meant for it.
  useShortcuts(
    { v: version ? () => onDecide({ receipt_id: version.receipt_id, decision: 'accepted' }) : undefined },
    hasKeys && editing !== FIRST_WARNED,
  );
  const number = order?.order_number ?? `#${orderId}`;
  const canRecall = state === 'confirmed' && detail.data?.cancellation === null && erasedAt === null;
  const actions = (
    <OrderActions
      {...props}
      state={state}
      isLoaded={detail.data !== undefined}
      isBlocked={(order?.blockers.length ?? 0) > 0}
      number={number}
      isBar={!isWide}
      onRecall={canRecall ? () => setRecalling(orderId) : undefined}
    />
  );
  const retry = () => void detail.refetch();
  // One failed request is no news yet; without a network, none is sent.
  const isFailing = detail.failureCount > 1 || detail.fetchStatus === 'paused';
  return (
    <section
      ref={pane}
      className="order-pane"
      tabIndex={-1}
      aria-label={t('order.label', { number })}
      aria-busy={!detail.data && !detail.isError}
    >
      <div ref={content} className="order-content">
        <OrderHead
          number={number}
          order={order}
          fullOrder={detail.data?.order}
          target={state === 'needs_review' ? props.target : null}
          isWide={isWide}
          onClose={onClose}
        >
          {mayReview && detail.data && erasedAt === null && (
            <OrderMenu
              onPrint={() => onPrint(true)}
              onSnooze={state === 'needs_review' ? () => setSnoozing(orderId) : undefined}
            />
          )}
          {isWide && actions}
        </OrderHead>
        <OrderViewers names={viewers} />
        <PrintedNote print={detail.data?.print ?? null} />
        <ReviewNote
          review={state === detail.data?.review.state ? detail.data?.review : undefined}
          receivedAt={order?.received_at}
        />
        {state === 'needs_review' && detail.data && (
          <SnoozeNote key={orderId} order={detail.data.order} accept={accept} />
        )}
        {detail.data?.cancellation && (
          <CancellationPanel key={orderId} order={detail.data.order} request={detail.data.cancellation} />
        )}
        {erasedAt !== null && <p className="note">{t('order.erased', { time: fullTime(erasedAt) })}</p>}
        {(detail.isError || (detail.data && isFailing)) && (
          <LoadProblem error={detail.error} updatedAt={detail.data ? detail.dataUpdatedAt : null} retry={retry} />
        )}
        {!detail.data && !detail.isError && <OrderSkeleton />}
        {detail.data && order && (
          <OrderBody
            key={orderId}
            detail={detail.data}
            state={state ?? detail.data.review.state}
            editing={editor}
            isBusy={decision.isPending}
            hasKeys={hasKeys}
            onDecide={onDecide}
            accept={accept}
          />
        )}
      </div>
      {recalling === orderId && (
        <RecallDialog
          accountId={accountId}
          orderId={orderId}
          number={number}
          accept={accept}
          onClose={() => setRecalling(null)}
        />
      )}
      {props.strip}
      {!isWide && order && actions}
      {snoozing === orderId && mayReview && detail.data && (
        <SnoozeDialog
          detail={detail.data}
          accept={accept}
          onSnoozed={props.onSnoozed}
          onClose={() => setSnoozing(null)}
        />
      )}
      {isPrinting && mayReview && detail.data && erasedAt === null && (
        <OrderPrint detail={detail.data} reload={reload} onClose={() => onPrint(false)} />
      )}
    </section>
  );
}
