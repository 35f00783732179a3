import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@orders/test-services/databases.ts';
import type pg from 'pg';
import { printProgress } from '../command-line.ts';
import { copyObserved } from './copy-observed.ts';
import { renderCounts, sumCounts } from './counter.ts';
import { restartPostgres } from './deployment.ts';
import type { Finding } from './findings.ts';
import type { PlannedRound } from './plan.ts';
import { pick } from './random.ts';
import { feedsOf, type Round, type RoundsDeps, SETTLE_SECONDS, takeDeliveryCounts } from './round.ts';
import { recoverySeconds, untilSettled, verifyStatusReplies, verifyTables } from './verify.ts';
import { untilEventsRead, verifyAllDeliveries } from './verify-feeds.ts';
import { patienceOf } from './wait-until.ts';

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
    printProgress(`[${index + 1}/${plan.length}] ${name}${at} …`);
    const round = await runRound(planned, deps);
    rounds.push(round);
    printProgress(`    ${describe(round)}`);
  }
  await verifyEnd(rounds, deps);
  return rounds;
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
    deliveries: takeDeliveryCounts(deps),
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
      return await withClient(context.databaseUrl, (client) => verify(client, startedAt, recoveredAt, deps));
    } catch (error) {
      await sleep(CRASH_DETECTION_MS);
      if (findings.known('postgres-crashed').length === crashes) throw error;
    }
  }
}

/** @returns the recovery in seconds. */
async function verify(client: pg.Client, startedAt: number, recoveredAt: number, deps: RoundsDeps): Promise<number> {
  const { context, ledger } = deps;
  const recovered = startedAt + recoveredAt * 1000;
  const url = pick(context.random, context.urls);
  await verifyObserved(client, deps, { from: 'last call', due: 'now' }, () =>
    verifyStatusReplies(client, { ledger, url, since: startedAt }),
  );
  return recoverySeconds(client, recovered);
}

/** Verifies that no work is left, and what clients, endpoints and the dispatching system have seen so far. */
async function verifyObserved(
  client: pg.Client,
  deps: RoundsDeps,
  reading: { from: 'last call' | 'start'; due: 'now' | 'ever' },
  verifyMore: () => Promise<Finding[]> = async () => [],
): Promise<void> {
  const { follower, findings } = deps;
  const found = await untilSettled(client, findings, patienceOf(SETTLE_SECONDS));
  const patience = patienceOf(SETTLE_SECONDS);
  const publishedBefore = await untilEventsRead(client, { follower, findings, patience, ...reading });
  found.push(...(await verifyAllDeliveries(client, deps)));
  const feeds = feedsOf(deps, publishedBefore);
  await client.query('begin');
  await copyObserved(client, { ...deps, feeds });
  found.push(...(await verifyTables(client)), ...(await verifyMore()));
  await client.query('rollback');
  for (const finding of found) findings.add(finding);
}

function describe({
  accepted,
  refused,
  cancellations,
  events,
  deliveries,
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
    `deliveries: ${renderCounts(deliveries)}`,
    `final after ${recoverySeconds.toFixed(1)} s`,
    dispatchDelaySeconds === null ? '' : `dispatched ${dispatchDelaySeconds.toFixed(1)} s late`,
  ];
  return `${parts.filter(Boolean).join(', ')}${violations.length > 0 ? `; VIOLATED: ${violations.join(', ')}` : ''}`;
}

/**
 * Ends the reviews, waits until all confirmed orders are dispatched, sends the cancellations left, reads all events again, and waits until
 * they are delivered. New results belong to the last round.
 */
async function verifyEnd(rounds: readonly Round[], deps: RoundsDeps): Promise<void> {
  const { context, cancellations, canceller, dispatcher, reviewers, follower, findings } = deps;
  await reviewers.stop();
  await dispatcher.untilShown(patienceOf(SETTLE_SECONDS));
  const counts = await canceller.finish(patienceOf(SETTLE_SECONDS));
  for (const { sender, sourceOrderId, reply } of cancellations.entries()) {
    if (!reply) findings.add({ name: 'cancellation-unanswered', id: `account ${sender.accountId} ${sourceOrderId}` });
  }
  await dispatcher.untilShown(patienceOf(SETTLE_SECONDS));
  for (const finding of await dispatcher.findUnread()) findings.add(finding);
  await withClient(context.databaseUrl, (client) => verifyObserved(client, deps, { from: 'start', due: 'ever' }));
  const last = rounds.at(-1);
  if (!last) return;
  last.findings.push(...findings.takeNew());
  last.cancellations = sumCounts([last.cancellations, counts]);
  last.events = sumCounts([last.events, follower.takeCounts()]);
  last.deliveries = sumCounts([last.deliveries, takeDeliveryCounts(deps)]);
}
