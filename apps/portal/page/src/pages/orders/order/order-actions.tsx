import { Check, ChevronDown, ChevronUp, RotateCcw, Undo2, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type ReviewState, reviewActionOf } from '../../../api/review.ts';
import { useCan } from '../../../api/session.ts';
import { formatCount } from '../../../components/numbers.ts';

const STATE_BADGES: Readonly<Record<Exclude<ReviewState, 'needs_review'>, string>> = {
  awaiting_payment: 'badge badge-warn',
  confirmed: 'badge badge-good',
  rejected: 'badge badge-bad',
  cancelled: 'badge badge-bad',
};

export interface OrderActionsProps {
  state: ReviewState | undefined;
  /** Whether the whole order is shown; before, it cannot be decided. */
  isLoaded: boolean;
  /** Whether something must be corrected first; it can still be confirmed. */
  isBlocked: boolean;
  /** The order number: each decision names its order. */
  number: string;
  onReview: (to: ReviewState) => void;
  /** Absent if the order is not confirmed, or its cancellation was requested. */
  onRecall?: (() => void) | undefined;
  /** Absent at the ends of the list. */
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
  /** With `isMore` the list has further orders that are not loaded. */
  position?: { at: number; of: number; isMore: boolean } | undefined;
}

/** Decides on the open order and moves to its neighbours: in the header or, within reach of one thumb, at the bottom of a phone. */
export function OrderActions({ isBar, ...props }: OrderActionsProps & { isBar: boolean }): ReactNode {
  const { state, position, onPrevious, onNext } = props;
  const { t } = useTranslation('review');
  const step = (label: 'previous' | 'next', run: (() => void) | undefined) => {
    const Icon = label === 'previous' ? ChevronUp : ChevronDown;
    return (
      <button
        type="button"
        className={isBar ? 'bar-button' : 'icon-button'}
        aria-label={t(`order.${label}`)}
        title={t(`order.${label}`)}
        aria-disabled={!run}
        onClick={run}
      >
        <Icon aria-hidden="true" size={20} />
        {isBar && <span>{t(`order.${label}Short`)}</span>}
      </button>
    );
  };
  const isListed = position !== undefined;
  if (isBar) {
    return (
      <footer className="order-bar">
        {isListed && step('previous', onPrevious)}
        <Decisions {...props} isBar />
        {isListed && step('next', onNext)}
      </footer>
    );
  }
  return (
    <div className="row order-actions">
      {isListed && (
        <span className="order-steps">
          <span className="hint">
            {t('order.position', {
              at: formatCount(position.at),
              of: formatCount(position.of, position.isMore),
            })}
          </span>
          {step('previous', onPrevious)}
          {step('next', onNext)}
        </span>
      )}
      {state && state !== 'needs_review' && <span className={STATE_BADGES[state]}>{t(`state.${state}`)}</span>}
      <Decisions {...props} isBar={false} />
    </div>
  );
}

function Decisions(props: OrderActionsProps & { isBar: boolean }): ReactNode {
  const { state, isLoaded, isBlocked, number, isBar, onReview, onRecall } = props;
  const { t } = useTranslation('review');
  const can = useCan();
  const button = (
    action: 'confirm' | 'reject' | 'reopen' | 'reviewNow' | 'recall',
    look: string,
    Icon: typeof Check,
    run: () => void,
  ) => (
    <button
      type="button"
      className={isBar ? `bar-button ${look}` : `button ${look}`}
      aria-label={t(`order.${action}`, { number })}
      aria-disabled={!isLoaded}
      onClick={() => isLoaded && run()}
    >
      {isBar && <Icon aria-hidden="true" size={20} />}
      <span>{t(`action.${action}`)}</span>
    </button>
  );
  if (!can('review')) return null;
  const action = reviewActionOf(state);
  if (action) return button(action, '', RotateCcw, () => onReview('needs_review'));
  if (onRecall) return button('recall', '', Undo2, onRecall);
  if (state !== 'needs_review') return null;
  return (
    <>
      {button('reject', 'button-bad', X, () => onReview('rejected'))}
      {button('confirm', isBlocked ? '' : 'button-main', Check, () => onReview('confirmed'))}
    </>
  );
}
