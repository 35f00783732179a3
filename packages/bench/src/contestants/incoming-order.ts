/** An order as it was sent: nothing of it but the id has been checked. */
export interface IncomingOrder {
  source_order_id: string;
  [member: string]: unknown;
}

/** Resolves once the order cannot be lost any more. */
export type AcceptOrder = (receiptId: string, order: IncomingOrder) => Promise<unknown>;
