/** Placeholder for the pointer of the first field with a warning. */
export const FIRST_WARNED = 'first warned';

/** Element id, used to focus the panel. */
export const CHANGED_DELIVERY_PANEL = 'changed-delivery-panel';

interface Named {
  order_number: string;
  customer: { name: string | null };
}

/** Characters of a customer's name in a sentence. */
const MAX_NAME = 30;

/** The number and the customer of an order for a sentence. Both keep their own direction (Unicode isolates); a long name is cut. */
export function nameOfOrder(order: Named | undefined): string {
  if (!order) return '';
  return [order.order_number, order.customer.name && cut(order.customer.name)]
    .filter((part) => part !== null)
    .map((part) => `\u2068${part}\u2069`)
    .join(' · ');
}

function cut(name: string): string {
  const characters = [...name];
  return characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME - 1).join('')}…` : name;
}
