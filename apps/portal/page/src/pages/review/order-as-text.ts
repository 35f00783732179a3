import type { TFunction } from 'i18next';
import type { Order } from '../../api/review.ts';
import { fieldLabel, fieldText, valueAt } from '../../components/order-values.ts';
import { KEY_FIELDS, PLACE_FIELDS } from './fields.ts';

/** The order as lines of text, for a message to a courier. */
export function orderAsText(t: TFunction, order: Order): string {
  const lineOf = (pointer: string) => {
    const value = valueAt(order, pointer);
    if (value === null) return [];
    const currency = pointer === '/total' ? ` ${order.currency}` : '';
    return [`${fieldLabel(t, pointer)}: ${fieldText(t, pointer, value)}${currency}`];
  };
  const items = order.items.length === 0 ? [] : [`${fieldLabel(t, '/items')}:\n${fieldText(t, '/items', order.items)}`];
  const lines = [...KEY_FIELDS, ...PLACE_FIELDS].flatMap(({ pointer }) => lineOf(pointer));
  return [...lineOf('/order_number'), ...lines, ...items].join('\n');
}
