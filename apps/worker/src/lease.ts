import type { Ring } from '@orders/queue';

/** The right to write certain receipts, and the ring that brought them. */
export interface Lease {
  id: string;
  ring: Ring;
}
