import { Failure } from '../errors.ts';
import type { StoredFailure } from './failures.ts';
import type { Input } from './read-input.ts';
import type { SourceOrder } from './source-order.ts';

/**
 * Of the orders of an input those that failed before, by their places.
 *
 * @param path the file of failures, as it was named.
 * @throws {Failure} when the orders have moved since: others would be sent in their stead, and they would be forgotten. Of a file before
 *   the first order, so that nothing is sent.
 */
export async function* onlyFailed(
  input: Input,
  failed: ReadonlyMap<number, StoredFailure>,
  path: string,
): AsyncGenerator<SourceOrder> {
  if (input.size !== null) for await (const _ of failedOrders(input, failed, path));
  yield* failedOrders(input, failed, path);
}

async function* failedOrders(
  input: Input,
  failed: ReadonlyMap<number, StoredFailure>,
  path: string,
): AsyncGenerator<SourceOrder> {
  for await (const order of input.orders()) {
    const failure = failed.get(order.position);
    if (!failure) continue;
    if (isOtherOrder(order, failure))
      throw moved(`Order ${order.position} of ${input.name} has another source_order_id than the one in ${path}`);
    yield order;
  }
  const [of = input.count] = Array.from(failed.values(), (failure) => failure.of);
  if (of !== input.count) throw moved(`${path} is of ${of} orders, and ${input.name} has ${input.count}`);
}

/** An id that was refused, or that another order has, is corrected like anything else; no other id changes. */
function isOtherOrder({ sourceOrderId }: SourceOrder, failure: StoredFailure): boolean {
  const { source_order_id: id, status, repeats, errors = [] } = failure;
  if (status === 'duplicate' || status === 'accepted' || repeats !== undefined) return false;
  return id !== null && id !== sourceOrderId && !errors.some(({ pointer }) => pointer === '/source_order_id');
}

function moved(what: string): Failure {
  return new Failure(
    `${what}: mend orders where they stand, or send all of them, without --only-failed; none is stored twice.`,
    { includesNextStep: true },
  );
}
