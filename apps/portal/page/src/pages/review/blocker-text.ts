import type { TFunction } from 'i18next';
import type { ListedOrder } from '../../api/review.ts';

export type BlockedOrder = Pick<ListedOrder, 'order_number' | 'customer' | 'emirate' | 'blockers'>;

/** Why an order cannot be delivered; a value that was sent but cannot be used is not called missing. */
export function blockerTexts(t: TFunction<'review'>, { blockers, customer, emirate }: BlockedOrder): string[] {
  return blockers.map((blocker) => {
    if (blocker === 'no_reachable_phone' && customer.phone !== null) return t('list.missing.phone_unusable');
    if (blocker === 'no_emirate' && emirate !== null) return t('list.missing.emirate_unknown');
    return t(`list.missing.${blocker}`);
  });
}
