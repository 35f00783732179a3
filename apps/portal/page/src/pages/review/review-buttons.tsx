import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCan } from '../../api/permissions.ts';
import { isReopenable, type ReviewState } from '../../api/review.ts';

/** The actions for orders in a state. */
export function ReviewButtons(props: { state: ReviewState; onReview: (to: ReviewState) => void }): ReactNode {
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
