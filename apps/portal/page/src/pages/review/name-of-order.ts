interface Named {
  order_number: string;
  customer: { name: string | null };
}

/** The number and the customer of an order for a sentence. Both keep their own direction (Unicode isolates). */
export function nameOfOrder(order: Named | undefined): string {
  if (!order) return '';
  return [order.order_number, order.customer.name]
    .filter((part) => part !== null)
    .map((part) => `\u2068${part}\u2069`)
    .join(' · ');
}
