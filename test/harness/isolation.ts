import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { isFinal } from '@orders/domain';
import { type Child, freePort, startChild } from '@orders/test-services';
import type { AttackResult } from './attack.ts';
import { createPerson, type TestPerson } from './people.ts';
import type { PoliteLoad, PoliteRun } from './polite-sender.ts';
import { startApp, untilReady } from './processes.ts';
import { QUEUE_KINDS } from './queue.ts';
import { type Stack, startStack, type TestAccount } from './stack.ts';
import { until } from './until.ts';

/** Node's heap limit in a pod of 1 GiB. */
const HEAP = '--max-old-space-size=512';
/** Max memory of each process, below the limit of such a pod. */
const MAX_MEMORY_MIB = 900;

/**
 * Max 99th percentile of another account's latency on a machine where a fixed piece of work takes `REFERENCE_WORK_MS`. On a slower machine
 * it is raised in proportion. It is three times the promised 500 ms, as the attacker, the database and other tests share the CPUs.
 */
const MAX_P99_MS = 1500;
const REFERENCE_WORK_MS = 15;
/** An attack is repeated if the machine stalled during it. Only the times may differ between rounds. */
const ROUNDS = 3;
/** On a machine that is slow without an attack, the bound is this multiple of the latency without an attack. */
const QUIET_FACTOR = 20;
/** The bound for other routes, as a multiple of that for orders: their requests are fewer and do more work. */
const OTHERS_FACTOR = 4;
/** `ISOLATION_FIGURES=on` prints the measurements of each attack. */
const PRINTS_FIGURES = process.env.ISOLATION_FIGURES === 'on';

const PER_SECOND = 50;
const QUIET_SECONDS = 2;
const ATTACK_SECONDS = 1.5;

/** Max characters kept from the end of a process's output. */
const MAX_PRINTED = 4000;

/** Rejected because Postgres took longer than PG_QUERY_TIMEOUT, or than a cancellation waits for a lock. */
const REFUSED_IN_A_STALL = new Set(['status 503 storage_unavailable', 'orders/cancel 503 overloaded']);

export interface Isolation {
  stack: Stack;
  /** Base addresses. */
  intakeUrl: string;
  portalUrl: string;
  hostile: TestAccount;
  accomplice: TestAccount;
  polite: TestAccount;
  /** Session cookie of the hostile account's holder in the portal. */
  hostileCookie: string;
  /**
   * Lets the polite account send during an attack. Expects that none of its requests is rejected, that its 99th percentile stays within the
   * bound, that each process keeps running, and that its memory is bounded.
   *
   * @param attack runs until its signal is aborted, then finishes its requests in flight.
   * @param options `factor` multiplies the bound.
   * @returns the replies to the attack.
   */
  expectUnharmed(
    attack: (signal: AbortSignal) => Promise<AttackResult>,
    options?: { factor?: number },
  ): Promise<AttackResult>;
  /** Adds receipts that a test got outside an attack. */
  addReceipts(receiptIds: readonly string[]): void;
  /** Expects that each receipt in a 202 exists and reaches a final state. */
  expectAllFinal(): Promise<void>;
}

/** Starts intake, worker and portal as separate processes with a small heap, for all attacks of a test file. */
export function useIsolation(settings: Record<string, string> = {}): Isolation {
  const running = new Map<'intake' | 'worker' | 'portal', Child>();
  const printed = new Map<string, string>();
  const acceptedIds: string[] = [];
  let politeSender: Child;
  let quiet: PoliteRun | undefined;
  let env: Record<string, Record<string, string>> = {};
  let portal: PoliteLoad['portal'];
  const isolation = {
    expectUnharmed,
    expectAllFinal,
    addReceipts: (receiptIds) => void acceptedIds.push(...receiptIds),
  } as Isolation;

  async function ensureRunning(): Promise<void> {
    for (const app of ['intake', 'worker', 'portal'] as const) {
      if (isAlive(running.get(app))) continue;
      const child = await startApp(app, env[app] as Record<string, string>, { output: 'pipe' });
      keepOutputTail(app, child);
      running.set(app, child);
      await untilReady(Number(env[app]?.ADMIN_PORT));
    }
  }

  /** The output does not go to this process's stderr: Jest would take an out-of-memory error there for its own. */
  function keepOutputTail(app: string, { process: { stdout, stderr } }: Child): void {
    printed.set(app, '');
    for (const stream of [stdout, stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        printed.set(app, `${printed.get(app)}${text}`.slice(-MAX_PRINTED));
      });
  }

  beforeAll(async () => {
    const stack = await startStack(QUEUE_KINDS[0] ?? 'postgres');
    const [intakePort, portalPort, ...admin] = await Promise.all(Array.from({ length: 5 }, () => freePort()));
    const [intakeUrl, portalUrl] = [`http://127.0.0.1:${intakePort}`, `http://127.0.0.1:${portalPort}`];
    const common = { ...stack.env, LEASE: '30s', PG_QUERY_TIMEOUT: '10s', NODE_OPTIONS: HEAP, ...settings };
    env = {
      intake: { ...common, PORT: `${intakePort}`, ADMIN_PORT: `${admin[0]}` },
      worker: { ...common, ADMIN_PORT: `${admin[1]}` },
      portal: {
        ...common,
        PORT: `${portalPort}`,
        ADMIN_PORT: `${admin[2]}`,
        PORTAL_URL: portalUrl,
        OPERATOR_SECOND_FACTOR: 'optional',
        INTAKE_URL: intakeUrl,
      },
    };
    const [polite, hostile, accomplice] = await Promise.all([
      stack.account(),
      stack.account({ signing: true }),
      stack.account({ signing: true }),
    ]);
    Object.assign(isolation, { stack, intakeUrl, portalUrl, polite, hostile, accomplice });
    politeSender = await startChild(process.execPath, [join(import.meta.dirname, 'polite-sender.ts')], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    await ensureRunning();
    const cookieOf = async (account: TestAccount) =>
      fetchSessionCookie(portalUrl, await createPerson(stack, account.id));
    isolation.hostileCookie = await cookieOf(hostile);
    portal = { listUrl: `${portalUrl}/api/accounts/${polite.id}/orders`, cookie: await cookieOf(polite) };
    await measure(() => sleep(1000));
    quiet = await measure(() => sleep(QUIET_SECONDS * 1000));
  });

  afterAll(async () => {
    politeSender.process.disconnect();
    await Promise.all([...running.values(), politeSender].map((child) => child.stop()));
    await isolation.stack.close();
  });

  let runs = 0;
  /** Lets the polite account send during other work. */
  async function measure(meanwhile: () => Promise<unknown>): Promise<PoliteRun> {
    const load: PoliteLoad = {
      url: isolation.intakeUrl,
      intakePid: running.get('intake')?.pid ?? 0,
      portalPid: running.get('portal')?.pid ?? 0,
      key: isolation.polite.key,
      perSecond: PER_SECOND,
      prefix: `polite-${runs++}`,
      portal,
    };
    const reply = once(politeSender.process, 'message');
    politeSender.process.send(load);
    try {
      await meanwhile();
    } finally {
      politeSender.process.send('stop');
    }
    const [run] = (await reply) as [PoliteRun];
    acceptedIds.push(...run.receiptIds);
    return run;
  }

  async function expectUnharmed(
    attack: (signal: AbortSignal) => Promise<AttackResult>,
    { factor = 1 } = {},
  ): Promise<AttackResult> {
    for (let round = 1; ; round++) {
      const { result, p99, bound, refused } = await attackOnce(attack, factor);
      const isInTime = p99.orders < bound.orders && p99.others < bound.others;
      const refusals = Object.keys(refused);
      const isStalled = refusals.length > 0 && refusals.every((refusal) => REFUSED_IN_A_STALL.has(refusal));
      if (round < ROUNDS && (!isInTime || isStalled)) continue;
      expect(refused).toEqual({});
      expect(p99.orders).toBeLessThan(bound.orders);
      expect(p99.others).toBeLessThan(bound.others);
      return result;
    }
  }

  async function attackOnce(attack: (signal: AbortSignal) => Promise<AttackResult>, factor: number) {
    await ensureRunning();
    await Promise.all([...running.values()].map(resetPeakMemory));
    let result: AttackResult = { replies: {}, receiptIds: [] };
    const politeRun = await measure(async () => {
      result = await attack(AbortSignal.timeout(ATTACK_SECONDS * 1000));
    });
    acceptedIds.push(...result.receiptIds);
    const slowness = Math.max(1, percentile(politeRun.work, 0.5) / REFERENCE_WORK_MS);
    const boundMs = factor * Math.max(MAX_P99_MS * slowness, QUIET_FACTOR * percentile(quiet?.orders ?? [], 0.99));
    const p99 = { orders: percentile(politeRun.orders, 0.99), others: percentile(politeRun.others, 0.99) };
    const bound = { orders: boundMs, others: OTHERS_FACTOR * boundMs };
    const memory = Object.fromEntries(
      await Promise.all([...running].map(async ([app, child]) => [app, await peakMemoryMiB(child)] as const)),
    );
    if (PRINTS_FIGURES) {
      const figures = { ...p99, bound: boundMs, slowness, refused: politeRun.refused, replies: result.replies, memory };
      process.stderr.write(`${expect.getState().currentTestName}: ${JSON.stringify(figures)}\n`);
    }
    const ended = [...running].filter(([, child]) => !isAlive(child)).map(([app]) => [app, printed.get(app)]);
    expect(Object.fromEntries(ended)).toEqual({});
    for (const mib of Object.values(memory)) expect(mib).toBeLessThan(MAX_MEMORY_MIB);
    return { result, p99, bound, refused: politeRun.refused };
  }

  async function expectAllFinal(): Promise<void> {
    const { knex } = isolation.stack.database;
    const ids = [...new Set(acceptedIds)];
    const states = await until(
      'each receipt is final',
      async () => {
        const { rows } = await knex.raw<{ rows: { state: Parameters<typeof isFinal>[0] }[] }>(
          'select state from receipts where receipt_id = any(?::uuid[])',
          [ids],
        );
        return rows.every(({ state }) => isFinal(state)) && rows;
      },
      { seconds: 200, everyMs: 250 },
    );
    expect(states).toHaveLength(ids.length);
  }

  return isolation;
}

/** @returns the cookie of a new session. */
async function fetchSessionCookie(portalUrl: string, { email, password }: TestPerson): Promise<string> {
  const { status, headers } = await fetch(`${portalUrl}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portalUrl },
    body: JSON.stringify({ email, password }),
  });
  if (status !== 204) throw new Error(`sign-in failed with status ${status}`);
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

function isAlive(child: Child | undefined): boolean {
  return child !== undefined && child.process.exitCode === null && child.process.signalCode === null;
}

/** Resets the kernel's record of a process's peak memory; does nothing without /proc. */
async function resetPeakMemory({ pid }: Child): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {});
}

/** Peak memory of a process in MiB; 0 without /proc or if the process has ended. */
async function peakMemoryMiB({ pid }: Child): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN;
}
