import type { CancelResult, Event, Order, EventPage as Page, Problem, Receipt } from './openapi.ts';

export type {
  Accepted,
  BatchReply,
  BatchResult,
  Cancellation,
  CancellationList,
  CancelReply,
  CancelResult,
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

/** What every event says of its order. */
type OfOrder = Pick<Event['data'], 'sequence' | 'receipt_id' | 'source_order_id' | 'order_id'>;
/** An event of this type. @typeParam More names of members of `data` that it can have besides. */
type EventOf<Type extends string, More extends keyof Event['data'] = never> = Omit<Event, 'type' | 'data'> & {
  type: Type;
  data: OfOrder & Pick<Event['data'], More>;
};

/**
 * An event of the feed; `type` tells which. Newer services may send types that this version does not know: pass over
 * events that no branch of yours takes.
 */
export type OrdersEvent =
  | EventOf<'receipt.written', 'warnings'>
  | EventOf<'receipt.duplicate', 'duplicate_of' | 'changed'>
  | EventOf<'receipt.dead', 'error'>
  | EventOf<'order.confirmed' | 'order.edited'>
  | EventOf<'order.rejected' | 'order.reopened' | 'order.cancelled' | 'order.cancel_requested', 'reason'>;

/** What is delivered when a person tests an endpoint. It is in no feed. */
export interface TestEvent {
  id: string;
  type: 'endpoint.test';
  timestamp: string;
  data: Record<never, never>;
}

/** What is delivered to an endpoint. */
export type DeliveredEvent = OrdersEvent | TestEvent;

/** The types of events that this version knows. */
export type EventType = OrdersEvent['type'];

/** A page of the feed. */
export type EventPage = Omit<Page, 'events'> & { events: OrdersEvent[] };
