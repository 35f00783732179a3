/** An order as sent. Only its id was validated. */
export interface IncomingOrder {
  source_order_id: string;
  [member: string]: unknown;
}

/** Resolves when the order is stored durably. */
export type AcceptOrder = (receiptId: string, order: IncomingOrder) => Promise<unknown>;
