import type { TFunction } from 'i18next';
import { OctagonAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListedOrder, Order } from '../../../api/review.ts';
import { Button } from '../../../components/button.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { locale } from '../../../locales/index.ts';
import type { Editing } from '../edit/editing.ts';
import { BLOCKED_FIELD } from './fields.ts';

/** Says why the order cannot be delivered; each reason has a button that opens the editor of its field. */
export function OrderBlockers({ order, editing }: { order: Order; editing: Editing }): ReactNode {
  const { t } = useTranslation('review');
  if (order.blockers.length === 0) return null;
  const { begin } = editing;
  return (
    <section className="order-box blockers note-bad" aria-label={t('blocker.label')}>
      <p>
        <OctagonAlert aria-hidden="true" size={18} />
        <strong>{t('blocker.sentence', { list: blockerList(t, order) })}</strong>
      </p>
      {begin && (
        <div className="row">
          {order.blockers.map((blocker, index) => (
            <Button
              key={blocker}
              kind={index === 0 ? 'main' : undefined}
              className="button-small"
              onClick={() => begin(BLOCKED_FIELD[blocker])}
            >
              {t(`blocker.fix.${blocker}`)}
            </Button>
          ))}
          <HelpLink page="warnings" anchor="missing-value" />
        </div>
      )}
    </section>
  );
}

export type BlockedOrder = Pick<ListedOrder, 'order_number' | 'customer' | 'emirate' | 'blockers'>;

/** Why an order cannot be delivered; a value that was sent but cannot be used is not called missing. */
function blockerReasons({ blockers, customer, emirate }: Omit<BlockedOrder, 'order_number'>) {
  return blockers.map((blocker) => {
    if (blocker === 'no_reachable_phone' && customer.phone !== null) return 'phone_unusable';
    if (blocker === 'no_emirate' && emirate !== null) return 'emirate_unknown';
    return blocker;
  });
}

/** The reasons as the list of a sentence. */
export function blockerList(t: TFunction<'review'>, order: Omit<BlockedOrder, 'order_number'>): string {
  return new Intl.ListFormat(locale(), { type: 'unit' }).format(
    blockerReasons(order).map((reason) => t(`blocker.${reason}`)),
  );
}

/** The reasons as short labels. */
export function blockerTexts(t: TFunction<'review'>, order: BlockedOrder): string[] {
  return blockerReasons(order).map((reason) => t(`list.missing.${reason}`));
}
