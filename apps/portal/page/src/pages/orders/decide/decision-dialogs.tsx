import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReviewState } from '../../../api/review.ts';
import { Button } from '../../../components/button.tsx';
import { Field } from '../../../components/field.tsx';
import { Dialog, FormDialog } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { useAction } from '../../../components/use-action.ts';
import { nameOfOrder } from '../name-of-order.ts';
import { type BlockedOrder, blockerList } from '../order/order-blockers.tsx';
import { RejectDialog } from './reject-dialog.tsx';
import type { useDeciding } from './use-deciding.ts';

/** The open question before a decision, if any. */
export function DecisionDialogs(props: {
  deciding: ReturnType<typeof useDeciding>;
  openId: number | null;
  open: (orderId: number) => void;
}): ReactNode {
  const { openId, open } = props;
  const { decisions, orderOf, versionOf, acceptChangedDelivery } = props.deciding;
  const { question, confirm, proceed, reject, cancel } = decisions;
  if (!question) return null;
  const { ids } = question;
  const [first = 0] = ids;
  const isOne = ids.length === 1;
  /** Shows both versions of the order. */
  const compare = () => {
    cancel();
    if (first !== openId) open(first);
  };
  switch (question.kind) {
    case 'resent':
      return isOne ? (
        <OneChangedDelivery
          name={nameOfOrder(orderOf(first))}
          // The list may know of a version that the open order does not show yet.
          compare={first === openId && versionOf(first) ? null : compare}
          version={versionOf(first)}
          accept={(version) => acceptChangedDelivery(first, version)}
          onConfirm={() => confirm(ids)}
          onClose={cancel}
        />
      ) : (
        <SomeOfMany kind="resent" some={question.resent} all={ids} onConfirm={confirm} onClose={cancel} />
      );
    case 'blocked': {
      const goOn = (confirmed: number[]) => proceed(confirmed, 'confirmed');
      return isOne ? (
        <OneBlocked order={orderOf(first)} onConfirm={() => goOn(ids)} onClose={cancel} />
      ) : (
        <SomeOfMany kind="blocked" some={question.blocked} all={ids} onConfirm={goOn} onClose={cancel} />
      );
    }
    case 'number': {
      const { to } = question;
      return <TypedNumber count={ids.length} to={to} onTyped={() => proceed(ids, to, true)} onClose={cancel} />;
    }
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
    <FormDialog
      title={t('bulk.blockedOne', { name: nameOfOrder(order) })}
      submit={t('bulk.confirmAnyway')}
      isDestructive
      onSubmit={onConfirm}
      onClose={onClose}
    >
      {order && <p>{t('bulk.why', { list: blockerList(t, order) })}</p>}
    </FormDialog>
  );
}

/** Which version of an order that was sent again with changes: the new one is used, or the current one confirmed. */
function OneChangedDelivery(props: {
  name: string;
  compare: (() => void) | null;
  /** The id of its changed delivery. */
  version: string | undefined;
  accept: (version: string | undefined) => Promise<unknown>;
  onConfirm: () => void;
  onClose: () => void;
}): ReactNode {
  const { name, compare, accept, onConfirm, onClose } = props;
  const { t } = useTranslation('review');
  // A newer one that comes while the question is open was not read.
  const [version] = useState(props.version);
  const accepting = useAction({ mutationFn: () => accept(version), onSuccess: onClose });
  return (
    <Dialog title={t('bulk.resentOne', { name })} onClose={onClose}>
      <div className="stack">
        <p>{t(compare ? 'bulk.resentCompare' : 'bulk.resentChoose')}</p>
        {accepting.isError && <ProblemNote error={accepting.error} />}
        <div className="row">
          {compare ? (
            <Button kind="main" onClick={compare}>
              {t('bulk.compare')}
            </Button>
          ) : (
            <Button kind="main" aria-disabled={accepting.isPending} onClick={() => accepting.mutate()}>
              {t('resend.accept')}
            </Button>
          )}
          <Button onClick={onConfirm}>{t('bulk.confirmCurrent')}</Button>
          <Button onClick={onClose}>{t('common:action.cancel')}</Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Some of several orders are better not confirmed: all others, all, or none. */
function SomeOfMany(props: {
  kind: 'resent' | 'blocked';
  some: number[];
  all: number[];
  onConfirm: (ids: number[]) => void;
  onClose: () => void;
}): ReactNode {
  const { kind, some, all, onConfirm, onClose } = props;
  const { t } = useTranslation('review');
  const others = all.filter((id) => !some.includes(id));
  const counted = ({ length }: number[]) => ({ count: length, formatted: formatCount(length) });
  const confirmOthers = kind === 'resent' ? 'bulk.confirmUnchanged' : 'bulk.confirmDeliverable';
  return (
    <Dialog title={t(`bulk.${kind}`, { ...counted(some), all: formatCount(all.length) })} onClose={onClose}>
      <div className="stack">
        <p>{t(`bulk.${kind}Hint`)}</p>
        <div className="row">
          {others.length > 0 && (
            <Button kind="main" onClick={() => onConfirm(others)}>
              {t(confirmOthers, counted(others))}
            </Button>
          )}
          <Button kind="bad" onClick={() => onConfirm(all)}>
            {t('bulk.confirmAll', counted(all))}
          </Button>
          <Button onClick={onClose}>{t('common:action.cancel')}</Button>
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
    <FormDialog
      title={t(`bulk.many.${to}`, { count, formatted })}
      submit={t(`bulk.many.${to}`, { count, formatted })}
      isDestructive={to === 'rejected'}
      onSubmit={() => (readNumber(text) === count ? onTyped() : setWrong(true))}
      onClose={onClose}
    >
      <Field
        label={t('bulk.type', { formatted })}
        inputMode="numeric"
        autoComplete="off"
        required
        value={text}
        onChange={(value) => {
          setText(value);
          setWrong(false);
        }}
        error={isWrong ? t('bulk.wrong', { formatted }) : null}
      />
    </FormDialog>
  );
}
