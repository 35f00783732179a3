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

/** A published event as it is stored. It contains no name, phone number, address, e-mail address, item or amount. */
export interface AccountEvent {
  /** Its place in the account's log. */
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

/** The JSON of an event, the same in the feed and in deliveries. */
export function eventJson(event: AccountEvent) {
  const { warnings, duplicate_of, changed, error, reason } = event.details;
  return {
    id: `evt_${event.event_id.replaceAll('-', '')}`,
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
