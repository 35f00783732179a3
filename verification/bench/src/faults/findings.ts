/** The column of the report that counts a violation. */
export type Kind = 'lost' | 'doubled' | 'stuck' | 'other';

/** All violations by name. */
export const VIOLATIONS = {
  'receipt-missing': { kind: 'lost', means: 'a 202 named a receipt that does not exist' },
  'order-missing': { kind: 'lost', means: 'an order with a 202 was not written' },
  'written-without-order': { kind: 'lost', means: 'a written receipt has no order or another one' },
  'order-doubled': { kind: 'doubled', means: 'an account has two orders of one source_order_id' },
  'key-named-two': { kind: 'doubled', means: 'replies to one idempotency key named two receipts' },
  'receipt-named-twice': { kind: 'doubled', means: 'two requests got the same receipt as a new one' },
  'receipt-stuck': { kind: 'stuck', means: 'a receipt was not final in time' },
  'outbox-row-left': { kind: 'stuck', means: 'a row was left in the outbox' },
  'not-dispatched': { kind: 'stuck', means: 'a confirmed order did not appear in dispatchable_orders in time' },
  'dispatch-missed': { kind: 'lost', means: 'a confirmed order appeared behind the cursor of the dispatching system' },
  'dispatched-twice': { kind: 'doubled', means: 'a dispatched order appears or will appear again' },
  'receipt-differs': { kind: 'other', means: 'a receipt contains another order than the sent one' },
  'key-and-order-differ': { kind: 'other', means: 'a key has no order, or an order has no key' },
  'order-without-receipt': { kind: 'other', means: 'no written receipt names the order' },
  'duplicate-misdirected': { kind: 'other', means: 'a duplicate does not refer to the written receipt' },
  'key-misdirected': { kind: 'other', means: 'the row of an idempotency key names no receipt or another one' },
  'half-stored': { kind: 'other', means: 'a receipt is stored incompletely' },
  'dead-without-fault': { kind: 'other', means: 'a valid receipt is dead' },
  'poison-survived': { kind: 'other', means: 'a receipt that cannot be written is final but not dead' },
  'attempts-miscounted': { kind: 'other', means: 'an outage used up an attempt, or an attempt was not counted' },
  'refused-wrongly': {
    kind: 'other',
    means: 'a valid request got another status than 202 or 503, or 200 or 503 if it cancels',
  },
  'payload-mismatch': { kind: 'other', means: 'a repeated key with the same bytes was reported as a mismatch' },
  'cancellation-lost': { kind: 'lost', means: 'an order with the reply cancelled is not cancelled, or was dispatched' },
  'held-cancellation-lost': {
    kind: 'lost',
    means: 'a cancellation with the reply held is neither held nor applied to its order',
  },
  'request-missing': {
    kind: 'lost',
    means: 'a cancellation with the reply requested has no request, or no order that is confirmed or cancelled',
  },
  'request-missed': { kind: 'lost', means: 'a request appeared behind the cursor of the dispatching system' },
  'request-not-shown': { kind: 'stuck', means: 'a request did not appear in dispatch_cancellations in time' },
  'request-before-order': { kind: 'other', means: 'a request appeared before its order' },
  'cancellation-unanswered': { kind: 'stuck', means: 'a cancellation got no reply in time' },
  'cancelled-by-nobody': { kind: 'other', means: 'an order is cancelled, or a request exists, that no client sent' },
  'outcome-changed': { kind: 'other', means: 'the reply to a cancellation contradicts an earlier one' },
  'event-gap': { kind: 'lost', means: 'a page of the feed left out a sequence, or repeated one' },
  'event-gone': { kind: 'lost', means: 'an event that was read before is no longer in the feed' },
  'event-doubled': { kind: 'doubled', means: 'two events have the same id' },
  'event-changed': { kind: 'other', means: 'an event that was read again is another one' },
  'event-cursor-wrong': { kind: 'other', means: 'the cursor of a page does not name its last event' },
  'event-unpublished': { kind: 'stuck', means: 'an event that was due was not published in time' },
  'event-unread': { kind: 'stuck', means: 'a feed could not be read to its newest event in time' },
  'event-not-enabled': { kind: 'other', means: 'an account without events has one' },
  'receipt-event-missing': { kind: 'lost', means: 'a final receipt has no event' },
  'receipt-event-unfounded': { kind: 'other', means: 'an event of a receipt is wrong, or is there twice' },
  'order-event-missing': { kind: 'lost', means: 'a decision about an order, or its dispatching, has no event' },
  'order-event-unfounded': { kind: 'other', means: 'an event of an order has no decision or dispatching' },
  'confirmed-event-early': { kind: 'other', means: 'order.confirmed was read before dispatching could see the order' },
  'cancellation-event-missing': { kind: 'lost', means: 'a reply to a cancellation has no event' },
  'cancellation-event-unfounded': {
    kind: 'other',
    means: 'an event of a cancellation that no client sent, or whose reply says otherwise',
  },
  'event-out-of-order': { kind: 'other', means: 'an event of an order came before the one that it follows' },
  'feed-state-differs': { kind: 'other', means: 'the newest event of an order contradicts its state' },
  'delivery-missing': { kind: 'lost', means: 'an event was not delivered to the endpoint of its account in time' },
  'delivery-differs': { kind: 'other', means: 'a delivery is not the event of the feed with its id' },
  'delivery-unfounded': { kind: 'other', means: 'a delivery of an event that is not in the feed of the account' },
  'delivery-signature-invalid': { kind: 'other', means: 'the signature of a delivery is invalid' },
  'move-unfinished': {
    kind: 'stuck',
    means: 'an account could not be moved to another installation, or does not work there',
  },
  'process-died': { kind: 'other', means: 'a process exited without a fault' },
  'postgres-crashed': { kind: 'other', means: 'Postgres exited without a fault' },
  'drain-failed': { kind: 'other', means: 'a drained process did not exit with code 0' },
} as const satisfies Record<string, { kind: Kind; means: string }>;

export type ViolationName = keyof typeof VIOLATIONS;

/** One violation. */
export interface Finding {
  name: ViolationName;
  /** The affected row, so that each violation counts once. */
  id: string;
  detail?: string;
}

/** All violations found so far. */
export type Findings = ReturnType<typeof createFindings>;

export function createFindings() {
  const all = new Map<string, Finding>();
  let fresh: Finding[] = [];
  return {
    add(finding: Finding): void {
      const key = `${finding.name} ${finding.id}`;
      if (all.has(key)) return;
      all.set(key, finding);
      fresh.push(finding);
    },
    /** Whether it was added before. */
    has: ({ name, id }: Finding): boolean => all.has(`${name} ${id}`),
    /** The ids under one name. */
    known: (name: ViolationName): string[] =>
      [...all.values()].filter((finding) => finding.name === name).map(({ id }) => id),
    /** The findings since the last call. */
    takeNew(): Finding[] {
      const taken = fresh;
      fresh = [];
      return taken;
    },
  };
}
