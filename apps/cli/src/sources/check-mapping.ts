import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { Problem } from '@orders/domain/problems.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { parseDelivery } from '@orders/domain/sources/parse-delivery.ts';
import { validateOrder } from '@orders/domain/validate-order.ts';
import { orderEntries, warningLines } from '../describe-order.ts';
import { Failure } from '../errors.ts';
import { explained, readOptionFile } from '../read-json-file.ts';
import { details } from '../table.ts';

const CONSEQUENCE = 'is stored and ends dead, mapping_failed.';

type Checked = Awaited<ReturnType<typeof checkMapping>>;

/**
 * Maps a delivery as the service would, and reads the result as it would.
 *
 * @param path of a file with the body of a delivery.
 * @throws {Failure} if the delivery would not become an order.
 */
export async function checkMapping(path: string, mapping: OrderMapping) {
  const body = await readOptionFile(path, '--check');
  const payload = mapOrder(
    explained('--check', () => parseDelivery(body)),
    mapping,
  );
  if (payload.source_order_id === undefined)
    throw new Failure(`The mapping finds no source_order_id in ${path}. Such a delivery ${CONSEQUENCE}`);
  try {
    validateOrder(payload);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const details = error.errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`).join(' ');
    throw new Failure(`${details} Such a delivery ${CONSEQUENCE}`);
  }
  return { payload, ...normalizeOrder(payload) };
}

export function describeChecked({ order, warnings }: Checked): string {
  return details([
    ['source order', order.source_order_id],
    ['order number', order.order_number],
    ...orderEntries(order),
    ['warnings', warningLines(warnings) ?? 'none'],
  ]);
}
