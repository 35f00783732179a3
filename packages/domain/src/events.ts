/** What an event can be about; docs/contract.md, section "Events". */
export const EVENT_TYPES = [
  'receipt.written',
  'receipt.duplicate',
  'receipt.dead',
  'order.confirmed',
  'order.rejected',
  'order.reopened',
  'order.edited',
  'order.cancelled',
  'order.cancel_requested',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A published event as it is stored. Its only free text is the reason of a decision. */
export interface AccountEvent {
  /** Its position in the account's log. */
  sequence: number;
  /** A UUID. */
  event_id: string;
  type: EventType;
  happened_at: Date;
  receipt_id: string;
  /** The receipt id if the delivery of a dead receipt had none. */
  source_order_id: string;
  order_id: number | null;
  details: {
    /** `receipt.written`: at most 101. */
    warnings?: { pointer: string; code: string }[];
    /** `receipt.duplicate`: the receipt that came first. */
    duplicate_of?: string;
    /** `receipt.duplicate`: pointers of the fields that differ. */
    changed?: string[];
    /** `receipt.dead`: the code of the last attempt. */
    error?: string;
    /** Why a person or a sender decided so; removed when the customer is erased. */
    reason?: string;
  };
}

/** The public id of an event. */
export function eventId(uuid: string): string {
  return `evt_${uuid.replaceAll('-', '')}`;
}

/** The type of the event by which a person tries an endpoint. It is in no log. */
export const TEST_EVENT = 'endpoint.test';

/** The JSON of a test event. */
export function testEventJson(uuid: string, at: Date) {
  return { id: eventId(uuid), type: TEST_EVENT, timestamp: at, data: {} };
}

/** The JSON of an event, the same in the feed and in deliveries. */
export function eventJson(event: AccountEvent) {
  const { warnings, duplicate_of, changed, error, reason } = event.details;
  return {
    id: eventId(event.event_id),
    type: event.type,
    timestamp: event.happened_at,
    data: {
      sequence: event.sequence,
      receipt_id: event.receipt_id,
      source_order_id: event.source_order_id,
      order_id: event.order_id,
      ...(warnings && { warnings: warnings.map(({ pointer, code }) => ({ pointer, code })) }),
      ...(duplicate_of && { duplicate_of }),
      ...(changed && { changed }),
      ...(error && { error }),
      ...(reason && { reason }),
    },
  };
}
