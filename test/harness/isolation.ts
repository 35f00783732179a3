import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { isFinal } from '@orders/domain';
import { type Child, freePort, startChild } from '@orders/test-services';
import type { Spoils } from './attack.ts';
import { createPerson, type TestPerson } from './people.ts';
import type { PoliteLoad, PoliteRun } from './polite-sender.ts';
import { startApp, untilReady } from './processes.ts';
import { QUEUE_KINDS } from './queue.ts';
import { type Stack, startStack, type TestAccount } from './stack.ts';
import { until } from './until.ts';

/** What a pod of 1 GiB gives Node. */
const HEAP = '--max-old-space-size=512';
/** Of each process, below the limit of such a pod. */
const MAX_MEMORY_MIB = 900;

/**
 * Another account's 99th percentile, where a fixed piece of work takes `REFERENCE_WORK_MS`; in proportion where it takes longer. Twice the
 * 500 ms that are promised, as the attacker, the database and other tests run on the same CPUs.
 */
const MAX_P99_MS = 1000;
const REFERENCE_WORK_MS = 15;
/** An attack during which the machine stalled is made again; nothing but the times may differ. */
const ROUNDS = 3;
/** A machine that is slow without an attack is compared with itself. */
const QUIET_FACTOR = 20;
/** The other routes' worst, as part of that bound: they are fewer, and each does more. */
const OTHERS_FACTOR = 4;
/** `ISOLATION_FIGURES=on` prints what each attack did. */
const PRINTS_FIGURES = process.env.ISOLATION_FIGURES === 'on';

const PER_SECOND = 50;
const QUIET_SECONDS = 2;
const ATTACK_SECONDS = 1.5;

/** What is kept of the end of a process' output, in characters. */
const MAX_PRINTED = 4000;

export interface Isolation {
  stack: Stack;
  /** Base addresses. */
  intakeUrl: string;
  portalUrl: string;
  hostile: TestAccount;
  accomplice: TestAccount;
  polite: TestAccount;
  /** Of the hostile account's holder, signed in to the portal. */
  hostileCookie: string;
  /**
   * Lets the polite account send beside an attack, and expects that none of its requests is refused, that its 99th percentile stays
   * within the bound of its quiet state, that each process runs on and that its memory is bounded.
   *
   * @param attack lasts until the signal; then it ends what it has under way.
   * @param options `factor` multiplies the bound.
   * @returns what the attack got back.
   */
  expectUnharmed(attack: (signal: AbortSignal) => Promise<Spoils>, options?: { factor?: number }): Promise<Spoils>;
  /** Adds receipts that a test got outside of an attack. */
  promise(receiptIds: readonly string[]): void;
  /** Expects that each receipt of a 202 exists and reaches a final state. */
  expectAllFinal(): Promise<void>;
}

/** Intake, worker and portal as the processes they are in production, on a small heap, for all attacks of a test file. */
export function useIsolation(settings: Record<string, string> = {}): Isolation {
  const running = new Map<'intake' | 'worker' | 'portal', Child>();
  const printed = new Map<string, string>();
  const promised: string[] = [];
  let politeSender: Child;
  let quiet: PoliteRun | undefined;
  let env: Record<string, Record<string, string>> = {};
  let portal: PoliteLoad['portal'];
  const isolation = {
    expectUnharmed,
    expectAllFinal,
    promise: (receiptIds) => void promised.push(...receiptIds),
  } as Isolation;

  async function ensureRunning(): Promise<void> {
    for (const app of ['intake', 'worker', 'portal'] as const) {
      if (isAlive(running.get(app))) continue;
      const child = await startApp(app, env[app] as Record<string, string>, { output: 'pipe' });
      keepEnd(app, child);
      running.set(app, child);
      await untilReady(Number(env[app]?.ADMIN_PORT));
    }
  }

  /** Not to this process' own stderr: Jest takes a heap that runs out there for its own. */
  function keepEnd(app: string, { process: { stdout, stderr } }: Child): void {
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
    const cookieOf = async (account: TestAccount) => signInByHand(portalUrl, await createPerson(stack, account.id));
    isolation.hostileCookie = await cookieOf(hostile);
    portal = { listUrl: `${portalUrl}/api/accounts/${polite.id}/orders`, cookie: await cookieOf(polite) };
    await measure(() => sleep(1000));
    quiet = await measure(() => sleep(QUIET_SECONDS * 1000));
  }, 120_000);

  afterAll(async () => {
    politeSender.process.disconnect();
    await Promise.all([...running.values(), politeSender].map((child) => child.stop()));
    await isolation.stack.close();
  }, 120_000);

  let runs = 0;
  /** The polite account sends while something else happens. */
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
    const answer = once(politeSender.process, 'message');
    politeSender.process.send(load);
    try {
      await meanwhile();
    } finally {
      politeSender.process.send('stop');
    }
    const [run] = (await answer) as [PoliteRun];
    promised.push(...run.receiptIds);
    return run;
  }

  async function expectUnharmed(
    attack: (signal: AbortSignal) => Promise<Spoils>,
    { factor = 1 } = {},
  ): Promise<Spoils> {
    for (let round = 1; ; round++) {
      const { spoils, p99, bound, refused } = await attackOnce(attack, factor);
      const isInTime = p99.orders < bound.orders && p99.others < bound.others;
      // Refused only because Postgres took longer than PG_QUERY_TIMEOUT, which is a time as well.
      const isStalled = Object.keys(refused).join() === 'status 503 storage_unavailable';
      if (round < ROUNDS && (!isInTime || isStalled)) continue;
      expect(refused).toEqual({});
      expect(p99.orders).toBeLessThan(bound.orders);
      expect(p99.others).toBeLessThan(bound.others);
      return spoils;
    }
  }

  async function attackOnce(attack: (signal: AbortSignal) => Promise<Spoils>, factor: number) {
    await ensureRunning();
    await Promise.all([...running.values()].map(forgetPeak));
    let spoils: Spoils = { replies: {}, receiptIds: [] };
    const beside = await measure(async () => {
      spoils = await attack(AbortSignal.timeout(ATTACK_SECONDS * 1000));
    });
    promised.push(...spoils.receiptIds);
    const slowness = Math.max(1, percentile(beside.work, 0.5) / REFERENCE_WORK_MS);
    const boundMs = factor * Math.max(MAX_P99_MS * slowness, QUIET_FACTOR * percentile(quiet?.orders ?? [], 0.99));
    const p99 = { orders: percentile(beside.orders, 0.99), others: percentile(beside.others, 0.99) };
    const bound = { orders: boundMs, others: OTHERS_FACTOR * boundMs };
    const memory = Object.fromEntries(
      await Promise.all([...running].map(async ([app, child]) => [app, await peakMiB(child)] as const)),
    );
    if (PRINTS_FIGURES) {
      const figures = { ...p99, bound: boundMs, slowness, refused: beside.refused, replies: spoils.replies, memory };
      process.stderr.write(`${expect.getState().currentTestName}: ${JSON.stringify(figures)}\n`);
    }
    const ended = [...running].filter(([, child]) => !isAlive(child)).map(([app]) => [app, printed.get(app)]);
    expect(Object.fromEntries(ended)).toEqual({});
    for (const mib of Object.values(memory)) expect(mib).toBeLessThan(MAX_MEMORY_MIB);
    return { spoils, p99, bound, refused: beside.refused };
  }

  async function expectAllFinal(): Promise<void> {
    const { knex } = isolation.stack.database;
    const ids = [...new Set(promised)];
    const states = await until(
      'each receipt is final',
      async () => {
        const { rows } = await knex.raw<{ rows: { state: Parameters<typeof isFinal>[0] }[] }>(
          'select state from receipts where receipt_id = any(?::uuid[])',
          [ids],
        );
        return rows.every(({ state }) => isFinal(state)) && rows;
      },
      { seconds: 60, everyMs: 250 },
    );
    expect(states).toHaveLength(ids.length);
  }

  return isolation;
}

/** @returns the cookie of a new session. */
async function signInByHand(portalUrl: string, { email, password }: TestPerson): Promise<string> {
  const { status, headers } = await fetch(`${portalUrl}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portalUrl },
    body: JSON.stringify({ email, password }),
  });
  if (status !== 204) throw new Error(`sign-in answered ${status}`);
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

function isAlive(child: Child | undefined): boolean {
  return child !== undefined && child.process.exitCode === null && child.process.signalCode === null;
}

/** Lets the kernel count a process' peak from now on; does nothing where there is no /proc. */
async function forgetPeak({ pid }: Child): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {});
}

/** The most memory that a process has held, in MiB; 0 where there is no /proc, or no such process any more. */
async function peakMiB({ pid }: Child): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN;
}
