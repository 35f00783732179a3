import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReviewState } from '../../api/review.ts';
import { ReviewButtons } from './review-buttons.tsx';

/** The header of the list: column names or, while orders are selected, bulk actions. */
export function ListHead({
  state,
  count,
  total,
  isCompact,
  onSelectAll,
  onClear,
  onReview,
}: {
  state: ReviewState;
  count: number;
  total: number;
  isCompact: boolean;
  onSelectAll: () => void;
  onClear: () => void;
  onReview: (to: ReviewState) => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const all = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (all.current) all.current.indeterminate = count > 0 && count < total;
  }, [count, total]);
  return (
    <div className={isCompact ? 'list-head is-compact' : 'list-head'}>
      <label className="order-check">
        <input
          ref={all}
          type="checkbox"
          aria-label={t('list.selectAll')}
          checked={count > 0 && count === total}
          disabled={total === 0}
          onChange={() => (count === total ? onClear() : onSelectAll())}
        />
      </label>
      {count > 0 ? (
        <div className="row bulk" role="toolbar" aria-label={t('list.bulk')}>
          <strong>{t('list.selected', { count })}</strong>
          <ReviewButtons state={state} onReview={onReview} />
          <button
            type="button"
            className="icon-button"
            aria-label={t('list.clear')}
            title={t('list.clear')}
            onClick={onClear}
          >
            <X aria-hidden="true" size={18} />
          </button>
        </div>
      ) : isCompact ? (
        <span>{t('list.all')}</span>
      ) : (
        ['number', 'customer', 'phone', 'place', 'total', 'warnings', 'channel', 'age'].map((name) => (
          <span key={name} className={`order-${name}`}>
            {t(`column.${name}`)}
          </span>
        ))
      )}
    </div>
  );
}
