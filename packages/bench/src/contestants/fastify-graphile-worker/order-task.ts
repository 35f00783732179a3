import type { IncomingOrder } from '../incoming-order.ts';

export const TASK_NAME = 'write_order';

export interface OrderTask {
  receipt_id: string;
  order: IncomingOrder;
}
