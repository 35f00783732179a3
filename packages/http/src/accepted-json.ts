/** The outcome of a delivery. */
interface Accepted {
  receiptId: string;
  /** The idempotency key was used before. */
  duplicate: boolean;
  /** The key was first used with other content. */
  payloadMismatch: boolean;
  /** The receipt of the mismatched content. */
  kept?: { receiptId: string };
}

/**
 * The reply to an accepted order (contract, section 2); also one result of a batch.
 *
 * @param outcome the receipt's state, if the client waited for it.
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
