import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import type { Order } from '@orders/domain/order.ts';
import { Problem } from '@orders/domain/problems.ts';
import { rateWarnings } from '@orders/domain/severity.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { parseDelivery } from '@orders/domain/sources/read-delivery.ts';
import { sourceOrderIdErrors } from '@orders/domain/validate-order.ts';

/** The order that a mapping makes of a delivery. */
export interface MappingPreview {
  order: Order;
  warnings: ReturnType<typeof rateWarnings>;
  /** Whether the order has a valid `source_order_id`; without one, the delivery becomes a dead receipt. */
  is_mapped: boolean;
}

/**
 * Maps a delivery and normalizes the result, as intake and the worker do.
 *
 * @throws {Problem} `invalid_request` if the delivery is not a JSON object.
 */
export function previewMapping(mapping: OrderMapping, delivery: string): MappingPreview {
  const payload = mapOrder(parse(delivery), mapping);
  const isMapped = sourceOrderIdErrors(payload.source_order_id, '').length === 0;
  const { order, warnings } = normalizeOrder(payload);
  return { order, warnings: rateWarnings(warnings), is_mapped: isMapped };
}

function parse(delivery: string): Record<string, unknown> {
  try {
    return parseDelivery(Buffer.from(delivery));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { detail = '' } = error;
    throw new Problem('invalid_request', { errors: [{ pointer: '/delivery', code: error.code, detail }] });
  }
}
