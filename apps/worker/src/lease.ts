import type { Ring } from '@orders/queue';

/** The right to write certain receipts, and the rings that brought them. */
export interface Lease {
  id: string;
  rings: readonly Ring[];
}
