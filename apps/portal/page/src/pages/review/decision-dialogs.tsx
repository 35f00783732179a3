import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReviewState } from '../../api/review.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { formatCount } from '../../components/numbers.ts';
import { type BlockedOrder, blockerList } from './blocker-text.ts';
import { nameOfOrder } from './name-of-order.ts';
import { RejectDialog } from './reject-dialog.tsx';
import type { useDecisions } from './use-decisions.ts';

/** The open question before a decision, if any. */
export function DecisionDialogs({
  decisions: { question, proceed, reject, cancel },
  orderOf,
}: {
  decisions: ReturnType<typeof useDecisions>;
  orderOf: (id: number) => BlockedOrder | undefined;
}): ReactNode {
  if (!question) return null;
  const { ids } = question;
  const [first = 0] = ids;
  switch (question.kind) {
    case 'blocked': {
      const deliverable = ids.filter((id) => !question.blocked.includes(id));
      return ids.length === 1 ? (
        <OneBlocked order={orderOf(first)} onConfirm={() => proceed(ids, 'confirmed')} onClose={cancel} />
      ) : (
        <SomeBlocked
          count={ids.length}
          blocked={question.blocked.length}
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

function SomeBlocked(props: {
  count: number;
  blocked: number;
  onConfirm: (all: boolean) => void;
  onClose: () => void;
}): ReactNode {
  const { count, blocked, onConfirm, onClose } = props;
  const { t } = useTranslation('review');
  const deliverable = count - blocked;
  const title = t('bulk.blocked', { count: blocked, formatted: formatCount(blocked), all: formatCount(count) });
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack">
        <p>{t('bulk.blockedHint')}</p>
        <div className="row">
          {deliverable > 0 && (
            <button type="button" className="button button-main" onClick={() => onConfirm(false)}>
              {t('bulk.confirmDeliverable', { count: deliverable, formatted: formatCount(deliverable) })}
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
