import type { Accepted, Problem, Receipt } from './openapi.ts';

export type { Accepted, FieldError, Order, Preview, Problem, Receipt, Warning } from './openapi.ts';

/** The stable part of a refusal: those known when this version was made, and whatever newer services add. */
export type ProblemCode = Problem['code'];

/** How far a receipt is; `written`, `duplicate` and `dead` are final. */
export type ReceiptStatus = Receipt['status'];

/** What became of each order of a batch, at its place. */
export interface BatchReply {
  accepted: number;
  refused: number;
  results: (Accepted | { error: Pick<Problem, 'status' | 'code' | 'detail' | 'errors'> })[];
}

/** What became of each order that was asked for, in the order asked. */
export interface ReconcileReply {
  results: {
    source_order_id: string;
    status: ReceiptStatus | 'never_seen';
    receipt_id: string | null;
    order_id: number | null;
    received_at: string | null;
  }[];
}
