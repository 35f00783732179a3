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

/** Stable codes of problems: those known to this version, and any that newer services add. */
export type ProblemCode = Problem['code'];

/** The state of a receipt; `written`, `duplicate` and `dead` are final. */
export type ReceiptStatus = Receipt['status'];
