import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReviewState } from '../../../api/review.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Field } from '../../../components/field.tsx';
import { FormButtons } from '../../../components/form-buttons.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { useAction } from '../../../components/use-action.ts';
import { nameOfOrder } from '../name-of-order.ts';
import { type BlockedOrder, blockerList } from '../order/order-blockers.tsx';
import { RejectDialog } from './reject-dialog.tsx';
import type { useDecisions } from './use-decisions.ts';

/** The open question before a decision, if any. */
export function DecisionDialogs({
  decisions: { question, confirm, proceed, reject, cancel },
  orderOf,
  openId,
  compare,
  acceptResend,
}: {
  decisions: ReturnType<typeof useDecisions>;
  openId: number | null;
  /** Opens an order to show both versions. */
  compare: (id: number) => void;
  /** Puts the values that were sent again into the open order. */
  acceptResend: (id: number) => Promise<unknown>;
  orderOf: (id: number) => BlockedOrder | undefined;
}): ReactNode {
  const { t } = useTranslation('review');
  if (!question) return null;
  const { ids } = question;
  const [first = 0] = ids;
  switch (question.kind) {
    case 'resent': {
      const others = ids.filter((id) => !question.resent.includes(id));
      return ids.length === 1 ? (
        <OneResent
          name={nameOfOrder(orderOf(first))}
          compare={first === openId ? null : () => compare(first)}
          accept={() => acceptResend(first)}
          onConfirm={() => confirm(ids)}
          onClose={cancel}
        />
      ) : (
        <SomeOfMany
          title={t('bulk.resent', {
            count: question.resent.length,
            formatted: formatCount(question.resent.length),
            all: formatCount(ids.length),
          })}
          hint={t('bulk.resentHint')}
          count={ids.length}
          others={others.length}
          confirmOthers="bulk.confirmUnchanged"
          onConfirm={(all) => confirm(all ? ids : others)}
          onClose={cancel}
        />
      );
    }
    case 'blocked': {
      const deliverable = ids.filter((id) => !question.blocked.includes(id));
      return ids.length === 1 ? (
        <OneBlocked order={orderOf(first)} onConfirm={() => proceed(ids, 'confirmed')} onClose={cancel} />
      ) : (
        <SomeOfMany
          title={t('bulk.blocked', {
            count: question.blocked.length,
            formatted: formatCount(question.blocked.length),
            all: formatCount(ids.length),
          })}
          hint={t('bulk.blockedHint')}
          count={ids.length}
          others={deliverable.length}
          confirmOthers="bulk.confirmDeliverable"
          onConfirm={(all) => proceed(all ? ids : deliverable, 'confirmed')}
          onClose={cancel}
        />
      );
    }
    case 'number':
      return (
        <TypedNumber
          count={ids.length}
          to={question.to}
          onTyped={() => proceed(ids, question.to, true)}
          onClose={cancel}
        />
      );
    case 'reason':
      return (
        <RejectDialog
          count={ids.length}
          number={orderOf(first)?.order_number}
          onReject={(reason) => reject(ids, reason)}
          onClose={cancel}
        />
      );
  }
}

function OneBlocked(props: { order: BlockedOrder | undefined; onConfirm: () => void; onClose: () => void }): ReactNode {
  const { order, onConfirm, onClose } = props;
  const { t } = useTranslation('review');
  return (
    <Dialog title={t('bulk.blockedOne', { name: nameOfOrder(order) })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        {order && <p>{t('bulk.why', { list: blockerList(t, order) })}</p>}
        <FormButtons submit={t('bulk.confirmAnyway')} isDestructive onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** Which version of an order that was sent again with changes: the new one is used, or the current one confirmed. */
function OneResent(props: {
  name: string;
  compare: (() => void) | null;
  accept: () => Promise<unknown>;
  onConfirm: () => void;
  onClose: () => void;
}): ReactNode {
  const { name, compare, accept, onConfirm, onClose } = props;
  const { t } = useTranslation('review');
  const accepting = useAction({ mutationFn: accept, onSuccess: onClose });
  return (
    <Dialog title={t('bulk.resentOne', { name })} onClose={onClose}>
      <div className="stack">
        <p>{t(compare ? 'bulk.resentCompare' : 'bulk.resentChoose')}</p>
        {accepting.isError && <ProblemNote error={accepting.error} />}
        <div className="row">
          {compare ? (
            <button type="button" className="button button-main" onClick={compare}>
              {t('bulk.compare')}
            </button>
          ) : (
            <button
              type="button"
              className="button button-main"
              aria-disabled={accepting.isPending}
              onClick={() => accepting.mutate()}
            >
              {t('resend.accept')}
            </button>
          )}
          <button type="button" className="button" onClick={onConfirm}>
            {t('bulk.confirmCurrent')}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {t('common:action.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Some of several orders are better not confirmed: all others, all, or none. */
function SomeOfMany(props: {
  title: string;
  hint: string;
  count: number;
  others: number;
  confirmOthers: string;
  onConfirm: (all: boolean) => void;
  onClose: () => void;
}): ReactNode {
  const { title, hint, count, others, confirmOthers, onConfirm, onClose } = props;
  const { t } = useTranslation('review');
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack">
        <p>{hint}</p>
        <div className="row">
          {others > 0 && (
            <button type="button" className="button button-main" onClick={() => onConfirm(false)}>
              {t(confirmOthers, { count: others, formatted: formatCount(others) })}
            </button>
          )}
          <button type="button" className="button button-bad" onClick={() => onConfirm(true)}>
            {t('bulk.confirmAll', { count, formatted: formatCount(count) })}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {t('common:action.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Digits of the keyboard's language also count, and so do separators between thousands. */
function readNumber(text: string): number {
  const digits = text
    .replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[\s,.\u066c\u202f\u00a0]/g, '');
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
}

function TypedNumber(props: { count: number; to: ReviewState; onTyped: () => void; onClose: () => void }): ReactNode {
  const { count, to, onTyped, onClose } = props;
  const { t } = useTranslation('review');
  const [text, setText] = useState('');
  const [isWrong, setWrong] = useState(false);
  const formatted = formatCount(count);
  return (
    <Dialog title={t(`bulk.many.${to}`, { count, formatted })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (readNumber(text) === count) onTyped();
          else setWrong(true);
        }}
      >
        <Field
          label={t('bulk.type', { formatted })}
          inputMode="numeric"
          autoComplete="off"
          required
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setWrong(false);
          }}
          error={isWrong ? t('bulk.wrong', { formatted }) : null}
        />
        <FormButtons
          submit={t(`bulk.many.${to}`, { count, formatted })}
          isDestructive={to === 'rejected'}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
