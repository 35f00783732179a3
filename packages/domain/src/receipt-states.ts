/** The states a receipt can be in, in the order it may pass through them. */
export const RECEIPT_STATES = ['received', 'normalized', 'written', 'duplicate', 'failed', 'dead'] as const;
export type ReceiptState = (typeof RECEIPT_STATES)[number];

/** States that background processing does not leave by itself; only a redrive leaves `dead`. */
export const FINAL_STATES = ['written', 'duplicate', 'dead'] as const satisfies readonly ReceiptState[];

/** Whether background processing is done with a receipt in this state. */
export function isFinal(state: ReceiptState): boolean {
  return (FINAL_STATES as readonly ReceiptState[]).includes(state);
}

/** The route an order came in by. */
export type Channel = 'rest' | 'webhook';

/** Where a written order stands in the account's review; only `confirmed` orders are dispatched. */
export const REVIEW_STATES = ['needs_review', 'confirmed', 'rejected'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];
