import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { untilEventsRead } from './event-rules.ts';
import type { PlannedRound } from './plan.ts';
import { pick } from './random.ts';
import { restartPostgres } from './restart-postgres.ts';
import { feedsOf, type Round, type RoundsDeps, renderCounts, SETTLE_TIMEOUT_MS, takeDeliveryCounts } from './round.ts';
import { copyObserved, recoverySeconds, untilSettled, verifyStatusReplies, verifyTables } from './verify.ts';
import { verifyAllDeliveries } from './verify-deliveries.ts';
import { verifyEnd } from './verify-end.ts';
import { withClient } from './with-client.ts';

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
  const found = await verifyAllDeliveries(client, deps);
  const feeds = feedsOf(deps, publishedBefore);
  await client.query('begin');
  await copyObserved(client, { ...deps, feeds });
  found.push(...(await verifyTables(client)));
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
