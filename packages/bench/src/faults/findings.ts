/** Where a violation is counted in the report. */
export type Kind = 'lost' | 'doubled' | 'stuck' | 'other';

/** All that can be found wrong, by its name. */
export const VIOLATIONS = {
  'receipt-missing': { kind: 'lost', means: 'a 202 named a receipt that is not there' },
  'order-missing': { kind: 'lost', means: 'an order got its 202 and was not written' },
  'written-without-order': { kind: 'lost', means: 'a receipt is written, but its order is not there or another' },
  'order-doubled': { kind: 'doubled', means: 'an account has two orders of one source_order_id' },
  'key-named-two': { kind: 'doubled', means: 'replies to one idempotency key named two receipts' },
  'receipt-named-twice': { kind: 'doubled', means: 'two requests were told that one receipt was theirs' },
  'receipt-stuck': { kind: 'stuck', means: 'a receipt was not final in time' },
  'outbox-row-left': { kind: 'stuck', means: 'a row was left in the outbox' },
  'not-dispatched': { kind: 'stuck', means: 'a confirmed order was not shown by dispatchable_orders in time' },
  'dispatch-missed': { kind: 'lost', means: 'a confirmed order appeared behind the cursor of the dispatching system' },
  'dispatched-twice': { kind: 'doubled', means: 'an order that was dispatched is or will be shown again' },
  'receipt-differs': { kind: 'other', means: 'a receipt holds another order than was sent' },
  'order-without-receipt': { kind: 'other', means: 'an order has no written receipt that names it' },
  'duplicate-misdirected': { kind: 'other', means: 'a duplicate does not lead to the receipt that was written' },
  'key-misdirected': { kind: 'other', means: 'the stored row of an idempotency key names no or another receipt' },
  'half-stored': { kind: 'other', means: 'a part of a receipt is stored without the rest' },
  'dead-without-fault': { kind: 'other', means: 'a receipt is dead that nothing was wrong with' },
  'poison-survived': { kind: 'other', means: 'a receipt that cannot be written is final and not dead' },
  'attempts-miscounted': { kind: 'other', means: 'an outage used up an attempt, or one was not counted' },
  'refused-wrongly': { kind: 'other', means: 'a good request got something else than 202 or 503' },
  'payload-mismatch': { kind: 'other', means: 'a key repeated with the same bytes was told that they differ' },
  'process-died': { kind: 'other', means: 'a process ended that nothing was done to' },
  'postgres-crashed': { kind: 'other', means: 'Postgres ended that nothing was done to' },
  'drain-failed': { kind: 'other', means: 'a process told to drain did not end with exit code 0' },
} as const satisfies Record<string, { kind: Kind; means: string }>;

export type ViolationName = keyof typeof VIOLATIONS;

/** One thing that is wrong. */
export interface Finding {
  name: ViolationName;
  /** Of what it was found, so that it counts once. */
  id: string;
  detail?: string;
}

/** What was found wrong so far. */
export interface Findings {
  add(finding: Finding): void;
  /** Ids under one name. */
  known(name: ViolationName): string[];
  /** Those added since it was last asked. */
  takeNew(): Finding[];
}

export function createFindings(): Findings {
  const all = new Map<string, Finding>();
  let fresh: Finding[] = [];
  return {
    add(finding) {
      const key = `${finding.name} ${finding.id}`;
      if (all.has(key)) return;
      all.set(key, finding);
      fresh.push(finding);
    },
    known: (name) => [...all.values()].filter((finding) => finding.name === name).map(({ id }) => id),
    takeNew() {
      const taken = fresh;
      fresh = [];
      return taken;
    },
  };
}
