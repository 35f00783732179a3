/** What became of a delivery at the door. */
interface Accepted {
  receiptId: string;
  /** Its idempotency key came before. */
  duplicate: boolean;
  /** And with other content than now. */
  payloadMismatch: boolean;
}

/**
 * The reply to an accepted order (contract, section 2), also as one result of a batch.
 *
 * @param outcome how far it is, where the client waits for that.
 */
export function acceptedJson<Outcome extends { status: string; order_id: number | null }>(
  { receiptId, duplicate, payloadMismatch }: Accepted,
  outcome: Outcome | null = null,
) {
  return {
    receipt_id: receiptId,
    ...(duplicate && { duplicate: true }),
    ...(payloadMismatch && { payload_mismatch: true }),
    ...outcome,
  };
}
