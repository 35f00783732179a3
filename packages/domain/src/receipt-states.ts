/** The states of a receipt, in the order in which it can pass through them. */
export const RECEIPT_STATES = ['received', 'normalized', 'written', 'duplicate', 'failed', 'dead'] as const;
export type ReceiptState = (typeof RECEIPT_STATES)[number];

/** States in which background processing has ended; only a redrive leaves `dead`. */
export const FINAL_STATES = ['written', 'duplicate', 'dead'] as const satisfies readonly ReceiptState[];

/** Whether background processing of a receipt in this state has ended. */
export function isFinal(state: ReceiptState): boolean {
  return (FINAL_STATES as readonly ReceiptState[]).includes(state);
}

/** The route by which an order was received. */
export type Channel = 'rest' | 'webhook';

/** The review states of a written order; only `confirmed` orders are dispatched, and only senders cancel. */
export const REVIEW_STATES = ['needs_review', 'awaiting_payment', 'confirmed', 'rejected', 'cancelled'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];

/** Those in which nobody has decided; the columns of such an order may name who moved it to review. */
export const UNDECIDED: readonly ReviewState[] = ['needs_review', 'awaiting_payment'];
