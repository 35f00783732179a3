import { UNDECIDED } from '@orders/domain/receipt-states.ts';
import { Download, Eye, OctagonAlert, Printer, UserRoundCheck, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type ReviewState, reviewActionOf } from '../../../api/review.ts';
import { MAX_EXPORTED, type Viewer } from '../../../api/review-list.ts';
import { useCan } from '../../../api/session.ts';
import { joinNames } from '../../../components/actor.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { Mark } from '../../../components/state-badge.tsx';
import type { Next } from '../decide/use-next-for-me.ts';
import type { ListState } from './list-state.ts';
import './list-head.css';

/** What columns hold in the lists of decided orders. */
const DECIDED_COLUMNS: Record<string, string> = { channel: 'by', age: 'decided' };
const COLUMNS = ['customer', 'phone', 'place', 'warnings', 'total', 'number', 'channel', 'age'];

export interface BulkActions {
  onReview: (to: ReviewState) => void;
  onDownload: () => void;
  onPrint: () => void;
}

/** The header of the list: column names or, while orders are selected, bulk actions. Only reviewers select. */
export function ListHead(
  props: ListState & {
    /** Names the order of the list. */
    order: string;
    next: Next | null;
    actions: BulkActions;
  },
): ReactNode {
  const { live, selection, url, isCompact, order, next, actions } = props;
  const { state } = url.filters;
  const count = selection.ids.length;
  const total = live.orders.length;
  const selected = new Set(selection.ids);
  const blocked = live.orders.filter((one) => one.severity === 'blocks' && selected.has(one.order_id)).length;
  const { t } = useTranslation('review');
  const can = useCan();
  const all = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (all.current) all.current.indeterminate = count > 0 && count < total;
  }, [count, total]);
  return (
    <div className={isCompact ? 'list-head is-compact' : 'list-head'}>
      {can('review') ? (
        <label className="order-check">
          <input
            ref={all}
            type="checkbox"
            aria-label={t('list.selectAll')}
            checked={count > 0 && count >= total}
            disabled={total === 0}
            onChange={() => (count >= total ? selection.clear() : selection.selectAll())}
          />
        </label>
      ) : (
        <span className="order-check" />
      )}
      {count > 0 ? (
        <Bulk state={state} count={count} blocked={blocked} actions={actions} onClear={selection.clear} />
      ) : isCompact ? (
        <div className="row list-order">
          <span>{order}</span>
          <Viewers viewers={live.updates.viewers} />
          {next && <NextForMe next={next} />}
        </div>
      ) : (
        COLUMNS.map((name) => (
          <span key={name} className={`order-${name}`}>
            {t(`column.${(!UNDECIDED.includes(state) && DECIDED_COLUMNS[name]) || name}`)}
          </span>
        ))
      )}
    </div>
  );
}

function Bulk(props: {
  state: ReviewState;
  count: number;
  /** How many of them cannot be delivered. */
  blocked: number;
  actions: BulkActions;
  onClear: () => void;
}): ReactNode {
  const { state, count, blocked, actions, onClear } = props;
  const { t } = useTranslation('review');
  const isTooMany = count > MAX_EXPORTED;
  const exported = isTooMany && { disabled: true, title: t('list.tooMany', { max: formatCount(MAX_EXPORTED) }) };
  return (
    <div className="row bulk" role="toolbar" aria-label={t('list.bulk')}>
      <strong>{t('list.selected', { count, formatted: formatCount(count) })}</strong>
      {blocked > 0 && (
        <Mark
          text={t('list.selectedBlocked', { count: blocked })}
          kind="bad"
          Icon={OctagonAlert}
          shown={formatCount(blocked)}
        />
      )}
      <ReviewButtons state={state} onReview={actions.onReview} />
      <span className="bulk-more">
        <IconButton label={t('list.download')} Icon={Download} onClick={actions.onDownload} {...exported} />
        <IconButton label={t('list.print')} Icon={Printer} onClick={actions.onPrint} {...exported} />
        <IconButton label={t('list.clear')} Icon={X} onClick={onClear} />
      </span>
    </div>
  );
}

/** The actions for orders in a state. */
function ReviewButtons(props: { state: ReviewState; onReview: (to: ReviewState) => void }): ReactNode {
  const { state, onReview } = props;
  const { t } = useTranslation('review');
  const can = useCan();
  if (state === 'confirmed' || !can('review')) return null;
  const action = reviewActionOf(state);
  if (action) return <Button onClick={() => onReview('needs_review')}>{t(`action.${action}`)}</Button>;
  return (
    <>
      <Button kind="bad" onClick={() => onReview('rejected')}>
        {t('action.reject')}
      </Button>
      <Button kind="main" onClick={() => onReview('confirmed')}>
        {t('action.confirm')}
      </Button>
    </>
  );
}

/** Opens the oldest order that nobody else has open. */
export function NextForMe({ next }: { next: Next }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <Button Icon={UserRoundCheck} className="next-for-me" title={t('next.hint')} onClick={next.open}>
      <span className="next-name">{t('next.label')}</span>
    </Button>
  );
}

/** The other reviewers who have this list open. */
export function Viewers({ viewers }: { viewers: readonly Viewer[] | undefined }): ReactNode {
  const { t } = useTranslation('review');
  if (!viewers?.length) return null;
  const names = joinNames(viewers.map(({ name }) => name));
  return (
    <p className="hint viewers" title={t('list.viewers', { names })}>
      <Eye aria-hidden="true" size={14} />
      <span>
        <span className="visually-hidden">{t('list.viewers', { names })}</span>
        <span aria-hidden="true">{names}</span>
      </span>
    </p>
  );
}
