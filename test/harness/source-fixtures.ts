import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Order } from '@orders/domain/order.ts';
import type { SourcePreset } from '@orders/domain/sources/settings.ts';

const FIXTURES = resolve(import.meta.dirname, '../../packages/domain/test/fixtures/sources');

/** What a recorded delivery becomes. */
export interface RecordedOrder {
  /** The preset and the name of the file. */
  delivery: `${SourcePreset}/${string}`;
  topic: string;
  order: Order;
  /** The codes of all warnings. */
  warnings: string[];
}

/** The body of a recorded delivery; `README.md` beside the files lists them. */
export function readDeliveryFixture(delivery: RecordedOrder['delivery']): Buffer {
  return readFileSync(resolve(FIXTURES, `${delivery}.json`));
}

export const RECORDED_ORDERS: RecordedOrder[] = JSON.parse(readFileSync(resolve(FIXTURES, 'orders.json'), 'utf8'));
