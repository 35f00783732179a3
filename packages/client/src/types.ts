import type { CancelResult, Event, Order, Problem, Receipt } from './openapi.ts';

export type {
  Accepted,
  BatchReply,
  BatchResult,
  Cancellation,
  CancellationList,
  CancelReply,
  CancelResult,
  Event as OrdersEvent,
  EventPage,
  FieldError,
  Order,
  Preview,
  Problem,
  Receipt,
  ReconcileReply,
  Warning,
} from './openapi.ts';

/** An order, or the JSON of one order as a string or bytes in UTF-8, which is sent unchanged. */
export type Payload = Order | string | Uint8Array;

/** Stable codes of problems: those known to this version, and any that newer services add. */
export type ProblemCode = Problem['code'];

/** The state of a receipt; `written`, `duplicate` and `dead` are final. */
export type ReceiptStatus = Receipt['status'];

/** The outcome of a cancellation. */
export type CancelOutcome = CancelResult['outcome'];

/** What an event can be about: the types known to this version, and any that newer services add. */
export type EventType = Event['type'];
