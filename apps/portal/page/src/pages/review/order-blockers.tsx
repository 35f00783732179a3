import { OctagonAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Order } from '../../api/review.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { blockerList } from './blocker-text.ts';
import type { Editing } from './editing.ts';
import { BLOCKED_FIELD } from './fields.ts';

/** Says why the order cannot be delivered; each reason has a button that opens the editor of its field. */
export function OrderBlockers({ order, editing }: { order: Order; editing: Editing }): ReactNode {
  const { t } = useTranslation('review');
  if (order.blockers.length === 0) return null;
  const { begin } = editing;
  return (
    <section className="order-box blockers" aria-label={t('blocker.label')}>
      <p>
        <OctagonAlert aria-hidden="true" size={18} />
        <strong>{t('blocker.sentence', { list: blockerList(t, order) })}</strong>
      </p>
      {begin && (
        <div className="row">
          {order.blockers.map((blocker) => (
            <button
              key={blocker}
              type="button"
              className="button button-small"
              onClick={() => begin(BLOCKED_FIELD[blocker])}
            >
              {t(`blocker.fix.${blocker}`)}
            </button>
          ))}
          <HelpLink page="warnings" anchor="missing-value" />
        </div>
      )}
    </section>
  );
}
