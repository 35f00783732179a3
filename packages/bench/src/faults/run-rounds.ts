import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Dispatcher } from './dispatcher.ts';
import type { Scene } from './faults.ts';
import type { Finding, Findings } from './findings.ts';
import type { Ledger } from './ledger.ts';
import type { Tally } from './load.ts';
import type { PlannedRound } from './plan.ts';
import { pick } from './random.ts';
import { revivePostgres } from './revive-postgres.ts';
import { bringLedger, recoverySeconds, untilSettled, verifyStatusReplies, verifyTables } from './verify.ts';
import { withClient } from './with-client.ts';

/** One round as it went. */
export interface Round extends Tally {
  /** The fault's name; `none` for a round in which nothing happened. */
  fault: string;
  victim: number;
  /** Seconds from the beginning of the round. */
  struckAt: number;
  healedAt: number;
  /** The longest that a receipt took until it was final, from healing or from its own commit if that was later; seconds. */
  recoverySeconds: number;
  /** The longest that a confirmed order was shown to the dispatching system after it was due; seconds, null where none was due. */
  dispatchDelaySeconds: number | null;
  /** What was not found before. */
  findings: Finding[];
}

export interface RoundsDeps {
  scene: Scene;
  ledger: Ledger;
  dispatcher: Dispatcher;
  findings: Findings;
  roundSeconds: number;
  say: (text: string) => void;
}

/** Max time from recovery until all receipts are final and the outbox is empty. */
const SETTLED_MS = 60_000;
/** Min time that the load continues after recovery. */
const AFTERMATH_MS = 1500;
/** Sessions end a little before Postgres has. */
const CRASH_NOTICED_MS = 2000;

/** Round by round: load, a fault in the middle of it, and then the verification of all that was ever accepted. */
export async function runRounds(plan: readonly PlannedRound[], deps: RoundsDeps): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const [index, planned] of plan.entries()) {
    const name = planned.fault?.name ?? 'none';
    const at = planned.fault ? ` at ${planned.strikeAt.toFixed(1)} s, for ${planned.lasts.toFixed(1)} s` : '';
    deps.say(`[${index + 1}/${plan.length}] ${name}${at} …`);
    const round = await runRound(planned, deps);
    rounds.push(round);
    deps.say(`    ${describe(round)}`);
  }
  await verifyDispatched(rounds, deps);
  return rounds;
}

/** Waits until all that was confirmed is shown; what is found then is of the last round. */
async function verifyDispatched(rounds: readonly Round[], deps: RoundsDeps): Promise<void> {
  const { scene, ledger, dispatcher, findings } = deps;
  await dispatcher.untilShown(Date.now() + SETTLED_MS);
  await withClient(scene.postgres.url, async (client) => {
    const { cursor } = dispatcher;
    const { rows } = await client.query(
      `select order_id::text as id, concat_ws(' ', confirmed_xid, reviewed_at) as detail from orders
       where review_state = 'confirmed' and (confirmed_xid, order_id) > ($1::text::xid8, $2::bigint)`,
      [cursor.xid, cursor.orderId],
    );
    for (const { id, detail } of rows) findings.add({ name: 'not-dispatched', id, detail });
    await client.query('begin');
    await bringLedger(client, ledger, dispatcher);
    for (const finding of await verifyTables(client)) findings.add(finding);
    await client.query('rollback');
  });
  rounds.at(-1)?.findings.push(...findings.takeNew());
}

async function runRound(planned: PlannedRound, deps: RoundsDeps): Promise<Round> {
  const { scene, dispatcher, findings, roundSeconds } = deps;
  const { fault, victim, strikeAt, lasts } = planned;
  const startedAt = Date.now();
  const secondsSince = () => (Date.now() - startedAt) / 1000;
  scene.load.start();
  dispatcher.startRound();
  let [struckAt, healedAt] = [0, 0];
  if (fault) {
    await sleep(strikeAt * 1000);
    struckAt = secondsSince();
    await fault.strike(scene, victim);
    await sleep(lasts * 1000);
    await fault.heal(scene, victim);
    healedAt = secondsSince();
  }
  await sleep(Math.max(AFTERMATH_MS, roundSeconds * 1000 - (Date.now() - startedAt)));
  const tally = await scene.load.stop();
  const delay = dispatcher.longestDelay();
  const recovery = await verifyUndisturbed(startedAt, healedAt, deps);
  return {
    fault: fault?.name ?? 'none',
    victim,
    struckAt,
    healedAt,
    ...tally,
    recoverySeconds: recovery,
    dispatchDelaySeconds: Number.isNaN(delay) ? null : delay,
    findings: findings.takeNew(),
  };
}

/** Verifies, and once more from the beginning if Postgres crashed meanwhile. */
async function verifyUndisturbed(startedAt: number, healedAt: number, deps: RoundsDeps): Promise<number> {
  const { scene, findings } = deps;
  for (;;) {
    const crashes = findings.known('postgres-crashed').length;
    try {
      await revivePostgres(scene);
      return await withClient(scene.postgres.url, (client) => verify(client, startedAt, healedAt, deps));
    } catch (error) {
      await sleep(CRASH_NOTICED_MS);
      if (findings.known('postgres-crashed').length === crashes) throw error;
    }
  }
}

/** @returns the recovery in seconds. */
async function verify(client: pg.Client, startedAt: number, healedAt: number, deps: RoundsDeps): Promise<number> {
  const { scene, ledger, dispatcher, findings } = deps;
  const healed = startedAt + healedAt * 1000;
  await untilSettled(client, healed + SETTLED_MS, {
    receipts: findings.known('receipt-stuck'),
    promises: findings.known('outbox-row-left'),
  });
  await client.query('begin');
  await bringLedger(client, ledger, dispatcher);
  const found = await verifyTables(client);
  const url = pick(scene.random, scene.urls);
  found.push(...(await verifyStatusReplies(client, { ledger, url, since: startedAt })));
  await client.query('rollback');
  for (const finding of found) findings.add(finding);
  return recoverySeconds(client, healed);
}

function describe({ accepted, refused, recoverySeconds, dispatchDelaySeconds, findings }: Round): string {
  const violations = [...Map.groupBy(findings, ({ name }) => name)].map(([name, { length }]) => `${name} ${length}`);
  const said = [
    `${accepted.toLocaleString('en')} accepted`,
    renderRefused(refused),
    `final after ${recoverySeconds.toFixed(1)} s`,
    dispatchDelaySeconds === null ? '' : `dispatched ${dispatchDelaySeconds.toFixed(1)} s late`,
  ];
  return `${said.filter(Boolean).join(', ')}${violations.length > 0 ? `; VIOLATED: ${violations.join(', ')}` : ''}`;
}

/** Such as `503 ×12, no reply ×3`. */
export function renderRefused(refused: Record<string, number>): string {
  return Object.entries(refused)
    .map(([status, count]) => `${status === '0' ? 'no reply' : status} ×${count.toLocaleString('en')}`)
    .join(', ');
}
