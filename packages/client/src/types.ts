import type { Problem, Receipt } from './openapi.ts';

export type {
  Accepted,
  BatchReply,
  BatchResult,
  FieldError,
  Order,
  Preview,
  Problem,
  Receipt,
  ReconcileReply,
  Warning,
} from './openapi.ts';

/** The stable part of a refusal: those known when this version was made, and whatever newer services add. */
export type ProblemCode = Problem['code'];

/** How far a receipt is; `written`, `duplicate` and `dead` are final. */
export type ReceiptStatus = Receipt['status'];
