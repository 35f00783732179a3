import { Failure } from '../errors.ts';
import { plural } from '../table.ts';
import type { StoredFailure } from './failures.ts';
import type { Input } from './read-input.ts';
import type { SourceOrder } from './source-order.ts';

/**
 * The orders of an input that failed before, by position.
 *
 * @param path the file of failures, for messages.
 * @throws {Failure} if the orders have moved since, as others would be sent instead. For a file this is checked before the first order,
 *   so that nothing is sent.
 */
export async function* onlyFailed(
  input: Input,
  failed: ReadonlyMap<number, StoredFailure>,
  path: string,
): AsyncGenerator<SourceOrder> {
  const [of] = Array.from(failed.values(), (failure) => failure.of);
  for (const isCheck of input.size === null ? [false] : [true, false]) {
    for await (const order of input.orders()) {
      const failure = failed.get(order.position);
      if (!failure) continue;
      if (isOtherOrder(order, failure))
        throw moved(`Order ${order.position} of ${input.name} has another source_order_id than the one in ${path}`);
      if (!isCheck) yield order;
    }
    if (of !== undefined && of !== input.count)
      throw moved(`${path} is of ${plural(of, 'order')}, and ${input.name} has ${input.count}`);
  }
}

/** An id that was rejected or duplicated may have been corrected; any other id must be the same. */
function isOtherOrder({ sourceOrderId }: SourceOrder, failure: StoredFailure): boolean {
  const { source_order_id: id, status, repeats, errors = [] } = failure;
  if (status === 'duplicate' || status === 'accepted' || repeats !== undefined) return false;
  return id !== null && id !== sourceOrderId && !errors.some(({ pointer }) => pointer === '/source_order_id');
}

function moved(what: string): Failure {
  return new Failure(
    `${what}: correct orders where they stand, or send all of them without --only-failed; none is stored twice.`,
    { includesNextStep: true },
  );
}
