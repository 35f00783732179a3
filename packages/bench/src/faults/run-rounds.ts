import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Canceller } from './canceller.ts';
import type { EventFollower } from './event-follower.ts';
import type { EventLedger } from './event-ledger.ts';
import { untilEventsRead } from './event-rules.ts';
import type { FaultContext } from './faults.ts';
import type { EventCounts } from './feed-reader.ts';
import type { Finding, Findings } from './findings.ts';
import type { RequestCounts } from './load.ts';
import type { PlannedRound } from './plan.ts';
import { pick } from './random.ts';
import { restartPostgres } from './restart-postgres.ts';
import type { Reviewers } from './reviewers.ts';
import {
  copyObserved,
  type Observed,
  recoverySeconds,
  untilSettled,
  verifyStatusReplies,
  verifyTables,
} from './verify.ts';
import { withClient } from './with-client.ts';

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
  events: EventCounts;
  /** New findings of this round. */
  findings: Finding[];
}

export interface RoundsDeps extends Omit<Observed, 'feeds'> {
  context: FaultContext;
  canceller: Canceller;
  reviewers: Reviewers;
  events: EventLedger;
  follower: EventFollower;
  findings: Findings;
  roundSeconds: number;
  printProgress: (text: string) => void;
}

/** Max time from recovery until all receipts are final and the outbox is empty. */
const SETTLE_TIMEOUT_MS = 60_000;
/** Min time that the load continues after recovery. */
const MIN_LOAD_AFTER_RECOVERY_MS = 1500;
/** Sessions end a little before Postgres exits. */
const CRASH_DETECTION_MS = 2000;

/** Runs each round: load with a fault, then the verification of everything accepted so far. */
export async function runRounds(plan: readonly PlannedRound[], deps: RoundsDeps): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const [index, planned] of plan.entries()) {
    const name = planned.fault?.name ?? 'none';
    const at = planned.fault ? ` at ${planned.injectAt.toFixed(1)} s, for ${planned.durationSeconds.toFixed(1)} s` : '';
    deps.printProgress(`[${index + 1}/${plan.length}] ${name}${at} …`);
    const round = await runRound(planned, deps);
    rounds.push(round);
    deps.printProgress(`    ${describe(round)}`);
  }
  await verifyDispatched(rounds, deps);
  return rounds;
}

/**
 * Ends the reviews, waits until all confirmed orders are dispatched, sends the cancellations left, and reads all events again. New results
 * belong to the last round.
 */
async function verifyDispatched(rounds: readonly Round[], deps: RoundsDeps): Promise<void> {
  const { context, cancellations, canceller, dispatcher, reviewers, follower, findings } = deps;
  await reviewers.stop();
  await dispatcher.untilShown(Date.now() + SETTLE_TIMEOUT_MS);
  const counts = await canceller.finish(Date.now() + SETTLE_TIMEOUT_MS);
  for (const { sender, sourceOrderId, reply } of cancellations.entries()) {
    if (!reply) findings.add({ name: 'cancellation-unanswered', id: `account ${sender.accountId} ${sourceOrderId}` });
  }
  await dispatcher.untilShown(Date.now() + SETTLE_TIMEOUT_MS);
  await withClient(context.postgres.url, async (client) => {
    const { cursor } = dispatcher;
    const { rows } = await client.query(
      `select order_id::text as id, concat_ws(' ', confirmed_xid, reviewed_at) as detail from orders
       where review_state = 'confirmed' and (confirmed_xid, order_id) > ($1::text::xid8, $2::bigint)`,
      [cursor.xid, cursor.orderId],
    );
    for (const { id, detail } of rows) findings.add({ name: 'not-dispatched', id, detail });
    const { requestCursor } = dispatcher;
    const requests = await client.query(
      `select order_id::text as id, concat_ws(' ', request_xid, requested_at) as detail from cancellation_requests
       where (request_xid, order_id) > ($1::text::xid8, $2::bigint)`,
      [requestCursor.xid, requestCursor.orderId],
    );
    for (const { id, detail } of requests.rows) findings.add({ name: 'request-not-shown', id, detail });
    const deadline = Date.now() + SETTLE_TIMEOUT_MS;
    const publishedBefore = await untilEventsRead(client, { follower, findings, from: 'start', deadline, due: 'ever' });
    await client.query('begin');
    await copyObserved(client, { ...deps, feeds: feedsOf(deps, publishedBefore) });
    for (const finding of await verifyTables(client)) findings.add(finding);
    await client.query('rollback');
  });
  const last = rounds.at(-1);
  if (!last) return;
  last.findings.push(...findings.takeNew());
  last.cancellations = sumCounts([last.cancellations, counts]);
  last.events = sumCounts([last.events, follower.takeCounts()]);
}

/** The feeds as they were read so far. */
export function feedsOf({ context, events }: RoundsDeps, publishedBefore: Date | null): Observed['feeds'] {
  return { senders: context.senders, events, publishedBefore };
}

async function runRound(planned: PlannedRound, deps: RoundsDeps): Promise<Round> {
  const { context, dispatcher, follower, findings, roundSeconds } = deps;
  const { fault, target, injectAt, durationSeconds } = planned;
  const startedAt = Date.now();
  const secondsSince = () => (Date.now() - startedAt) / 1000;
  context.load.start();
  dispatcher.startRound();
  let [injectedAt, recoveredAt] = [0, 0];
  if (fault) {
    await sleep(injectAt * 1000);
    injectedAt = secondsSince();
    await fault.inject(context, target);
    await sleep(durationSeconds * 1000);
    await fault.recover(context, target);
    recoveredAt = secondsSince();
  }
  await sleep(Math.max(MIN_LOAD_AFTER_RECOVERY_MS, roundSeconds * 1000 - (Date.now() - startedAt)));
  const counts = await context.load.stop();
  const delay = dispatcher.longestDelay();
  const recovery = await verifyWithRetry(startedAt, recoveredAt, deps);
  return {
    fault: fault?.name ?? 'none',
    target,
    injectedAt,
    recoveredAt,
    ...counts,
    recoverySeconds: recovery,
    dispatchDelaySeconds: Number.isNaN(delay) ? null : delay,
    events: follower.takeCounts(),
    findings: findings.takeNew(),
  };
}

/** Verifies, and starts again if Postgres crashed in the meantime. */
async function verifyWithRetry(startedAt: number, recoveredAt: number, deps: RoundsDeps): Promise<number> {
  const { context, findings } = deps;
  for (;;) {
    const crashes = findings.known('postgres-crashed').length;
    try {
      await restartPostgres(context);
      return await withClient(context.postgres.url, (client) => verify(client, startedAt, recoveredAt, deps));
    } catch (error) {
      await sleep(CRASH_DETECTION_MS);
      if (findings.known('postgres-crashed').length === crashes) throw error;
    }
  }
}

/** @returns the recovery in seconds. */
async function verify(client: pg.Client, startedAt: number, recoveredAt: number, deps: RoundsDeps): Promise<number> {
  const { context, ledger, follower, findings } = deps;
  const recovered = startedAt + recoveredAt * 1000;
  await untilSettled(client, recovered + SETTLE_TIMEOUT_MS, {
    receipts: findings.known('receipt-stuck'),
    outboxRows: findings.known('outbox-row-left'),
  });
  const deadline = Date.now() + SETTLE_TIMEOUT_MS;
  const publishedBefore = await untilEventsRead(client, {
    follower,
    findings,
    from: 'last call',
    deadline,
    due: 'now',
  });
  await client.query('begin');
  await copyObserved(client, { ...deps, feeds: feedsOf(deps, publishedBefore) });
  const found = await verifyTables(client);
  const url = pick(context.random, context.urls);
  found.push(...(await verifyStatusReplies(client, { ledger, url, since: startedAt })));
  await client.query('rollback');
  for (const finding of found) findings.add(finding);
  return recoverySeconds(client, recovered);
}

function describe({
  accepted,
  refused,
  cancellations,
  events,
  recoverySeconds,
  dispatchDelaySeconds,
  findings,
}: Round): string {
  const violations = [...Map.groupBy(findings, ({ name }) => name)].map(([name, { length }]) => `${name} ${length}`);
  const parts = [
    `${accepted.toLocaleString('en')} accepted`,
    renderCounts(refused),
    renderCounts(cancellations),
    `events: ${renderCounts(events)}`,
    `final after ${recoverySeconds.toFixed(1)} s`,
    dispatchDelaySeconds === null ? '' : `dispatched ${dispatchDelaySeconds.toFixed(1)} s late`,
  ];
  return `${parts.filter(Boolean).join(', ')}${violations.length > 0 ? `; VIOLATED: ${violations.join(', ')}` : ''}`;
}

/** For example `503 ×12, no reply ×3`. */
export function renderCounts(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${status === '0' ? 'no reply' : status} ×${count.toLocaleString('en')}`)
    .join(', ');
}

/** Adds counts of the same name. */
export function sumCounts(all: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}
