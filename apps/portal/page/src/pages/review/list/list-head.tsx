import { Download, Eye, Printer, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isReopenable, type ReviewState } from '../../../api/review.ts';
import { MAX_EXPORTED, type Viewer } from '../../../api/review-list.ts';
import { useCan } from '../../../api/session.ts';
import { joinNames } from '../../../components/join-names.ts';
import { formatCount } from '../../../components/numbers.ts';

/** What columns hold in the lists of decided orders. */
const DECIDED_COLUMNS: Record<string, string> = { channel: 'by', age: 'decided' };
const COLUMNS = ['customer', 'phone', 'place', 'warnings', 'total', 'number', 'channel', 'age'];

export interface BulkActions {
  onReview: (to: ReviewState) => void;
  onDownload: () => void;
  onPrint: () => void;
}

/** The header of the list: column names or, while orders are selected, bulk actions. Only reviewers select. */
export function ListHead({
  state,
  order,
  count,
  total,
  isCompact,
  viewers,
  actions,
  onSelectAll,
  onClear,
}: {
  state: ReviewState;
  /** Names the order of the list. */
  order: string;
  count: number;
  /** The number of loaded orders. */
  total: number;
  isCompact: boolean;
  viewers: readonly Viewer[];
  actions: BulkActions;
  onSelectAll: () => void;
  onClear: () => void;
}): ReactNode {
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
            onChange={() => (count >= total ? onClear() : onSelectAll())}
          />
        </label>
      ) : (
        <span className="order-check" />
      )}
      {count > 0 ? (
        <Bulk state={state} count={count} actions={actions} onClear={onClear} />
      ) : isCompact ? (
        <div className="row list-order">
          <span>{order}</span>
          <Viewers viewers={viewers} />
        </div>
      ) : (
        COLUMNS.map((name) => (
          <span key={name} className={`order-${name}`}>
            {t(`column.${(state !== 'needs_review' && DECIDED_COLUMNS[name]) || name}`)}
          </span>
        ))
      )}
    </div>
  );
}

function Bulk(props: { state: ReviewState; count: number; actions: BulkActions; onClear: () => void }): ReactNode {
  const { state, count, actions, onClear } = props;
  const { t } = useTranslation('review');
  const isTooMany = count > MAX_EXPORTED;
  const button = (name: string, icon: ReactNode, onClick: () => void, disabled = false) => (
    <button
      type="button"
      className="icon-button"
      aria-label={t(`list.${name}`)}
      title={disabled ? t('list.tooMany', { max: formatCount(MAX_EXPORTED) }) : t(`list.${name}`)}
      disabled={disabled}
      onClick={onClick}
    >
      {icon}
    </button>
  );
  return (
    <div className="row bulk" role="toolbar" aria-label={t('list.bulk')}>
      <strong>{t('list.selected', { count, formatted: formatCount(count) })}</strong>
      <ReviewButtons state={state} onReview={actions.onReview} />
      <span className="bulk-more">
        {button('download', <Download aria-hidden="true" size={18} />, actions.onDownload, isTooMany)}
        {button('print', <Printer aria-hidden="true" size={18} />, actions.onPrint, isTooMany)}
        {button('clear', <X aria-hidden="true" size={18} />, onClear)}
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
  if (isReopenable(state))
    return (
      <button type="button" className="button" onClick={() => onReview('needs_review')}>
        {t('action.reopen')}
      </button>
    );
  return (
    <>
      <button type="button" className="button button-bad" onClick={() => onReview('rejected')}>
        {t('action.reject')}
      </button>
      <button type="button" className="button button-main" onClick={() => onReview('confirmed')}>
        {t('action.confirm')}
      </button>
    </>
  );
}

/** The other reviewers who have this list open. */
export function Viewers({ viewers }: { viewers: readonly Viewer[] }): ReactNode {
  const { t } = useTranslation('review');
  if (viewers.length === 0) return null;
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
