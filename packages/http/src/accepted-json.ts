/** The outcome of a delivery. */
interface Accepted {
  receiptId: string;
  /** Its idempotency key came before. */
  duplicate: boolean;
  /** And with other content than now. */
  payloadMismatch: boolean;
  /** With a mismatch: the receipt by which its content is kept. */
  kept?: { receiptId: string };
}

/**
 * The reply to an accepted order (contract, section 2), also as one result of a batch.
 *
 * @param outcome how far it is, where the client waits for that.
 */
export function acceptedJson<Outcome extends { status: string; order_id: number | null }>(
  { receiptId, duplicate, payloadMismatch, kept }: Accepted,
  outcome: Outcome | null = null,
) {
  return {
    receipt_id: receiptId,
    ...(duplicate && { duplicate: true }),
    ...(payloadMismatch && { payload_mismatch: true }),
    ...(kept && { kept_as: kept.receiptId }),
    ...outcome,
  };
}
