import type { Canceller } from './canceller.ts';
import type { Observed } from './copy-observed.ts';
import { type Counts, sumCounts } from './counter.ts';
import type { EventFollower } from './event-follower.ts';
import type { FaultContext } from './faults.ts';
import type { Finding, Findings } from './findings.ts';
import type { EventLedger } from './ledger.ts';
import type { RequestCounts } from './load.ts';
import type { startReviewers } from './reviewers.ts';

/** The results of one round. */
export interface Round extends RequestCounts {
  /** The name of the fault; `none` for a round without one. */
  fault: string;
  target: number;
  /** Seconds from the start of the round. */
  injectedAt: number;
  recoveredAt: number;
  /** The longest time until a receipt was final, from recovery or from its own commit if that was later, in seconds. */
  recoverySeconds: number;
  /** The longest delay of a confirmed order after it was due, in seconds; null if none was due. */
  dispatchDelaySeconds: number | null;
  /** What was read of the feeds. */
  events: Counts;
  /** What the endpoints received. */
  deliveries: Counts;
  /** New findings of this round. */
  findings: Finding[];
}

export interface RoundsDeps extends Omit<Observed, 'feeds'> {
  context: FaultContext;
  canceller: Canceller;
  reviewers: ReturnType<typeof startReviewers>;
  events: EventLedger;
  follower: EventFollower;
  findings: Findings;
  roundSeconds: number;
}

/** How long the verification waits for each thing: that receipts are final, orders shown, events read and delivered. */
export const SETTLE_SECONDS = 60;

/**
 * The feeds as they were read so far. Call it before the transaction of the verification: the views of the database show what was due at its
 * start, and a client may read newer events afterwards.
 */
export function feedsOf({ context, events }: RoundsDeps, publishedBefore: Date | null): Observed['feeds'] {
  const { senders } = context;
  const read = new Map(senders.map(({ accountId }) => [accountId, [...events.eventsOf(accountId)]]));
  const { earlyIds } = events;
  return { senders, events: { eventsOf: (accountId) => read.get(accountId) ?? [], earlyIds }, publishedBefore };
}

/** What all endpoints received since the last call. */
export function takeDeliveryCounts({ context }: RoundsDeps): Counts {
  return sumCounts(context.endpoints.map(({ deliveries }) => deliveries.takeCounts()));
}
