import type { TFunction } from 'i18next';
import type { ListedOrder } from '../../api/review.ts';
import { locale } from '../../locales/index.ts';

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
