/** Max bytes of a batch: below the 1 MB body limit of many proxies. */
export const BATCH_BYTES = 1_000_000;

const encoder = new TextEncoder();

/** Cuts orders into batches, the same ones for the same orders and limits. */
export async function* cutBatches<Order extends { text: string }>(
  orders: AsyncIterable<Order>,
  limits: { orders: number; bytes: number },
): AsyncGenerator<Order[]> {
  let batch: Order[] = [];
  let bytes = 0;
  function cut(): Order[] {
    const whole = batch;
    batch = [];
    bytes = 0;
    return whole;
  }
  for await (const order of orders) {
    const size = encoder.encode(order.text).length + 1;
    if (batch.length > 0 && bytes + size > limits.bytes) yield cut();
    batch.push(order);
    bytes += size;
    if (batch.length >= limits.orders) yield cut();
  }
  if (batch.length > 0) yield cut();
}
