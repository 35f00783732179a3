import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { isFinal } from '@orders/domain/receipt-states.ts';
import { untilReady } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { type AttackResult, attack, attackRequest } from '../../verification/bench/src/isolation/attack.ts';
import type { PoliteLoad, PoliteRun } from '../../verification/bench/src/isolation/polite-sender.ts';
import { usageOf } from '../../verification/bench/src/processes.ts';
import { type Driver, startDriver } from '../../verification/bench/src/start-driver.ts';
import { createPerson, type TestPerson } from './people.ts';
import { startApp } from './processes.ts';
import { QUEUE_KIND } from './queue.ts';
import { type Stack, startStack, type TestAccount } from './stack.ts';

/** Node's heap limit in a pod of 1 GiB. */
const HEAP = '--max-old-space-size=512';
/** Max memory of each process, below the limit of such a pod. */
const MAX_MEMORY_MIB = 900;

const PER_SECOND = 50;
/** An attack goes on until the polite account has had this many replies meanwhile. */
const ANSWERED_DURING_ATTACK = 75;

/** Max characters kept from the end of a process's output. */
const MAX_PRINTED = 4000;

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
   * Lets the polite account send during an attack, which goes on until that account has had its replies. Expects that none of its requests
   * is rejected, that each process keeps running, and that its memory is bounded. How long the replies take is measured by
   * `npm run bench -- isolation`.
   *
   * @param attack runs until its signal is aborted, then finishes its requests in flight.
   * @returns the replies to the attack.
   */
  expectUnharmed(attack: (signal: AbortSignal) => Promise<AttackResult>): Promise<AttackResult>;
  /** Expects the same of an attack in which the hostile account keeps sending this many requests at once. */
  flood(
    connections: number,
    path: string,
    bodyOf: (number: number) => string | Buffer,
    headers?: Record<string, string>,
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
  let driver: Driver | undefined;
  let env: Record<string, Record<string, string>> = {};
  let portal: PoliteLoad['portal'];
  const isolation = {
    expectUnharmed,
    flood: (connections, path, bodyOf, headers = {}) =>
      expectUnharmed((signal) => {
        const { intakeUrl, hostile } = isolation;
        const requestOf = (number: number) => attackRequest(intakeUrl, path, hostile.key, bodyOf(number), headers);
        return attack(requestOf, { connections, signal });
      }),
    expectAllFinal,
    addReceipts: (receiptIds) => void acceptedIds.push(...receiptIds),
  } as Isolation;

  async function ensureRunning(): Promise<void> {
    for (const app of ['intake', 'worker', 'portal'] as const) {
      if (running.get(app)?.isRunning) continue;
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
    const stack = await startStack(QUEUE_KIND);
    const [intakePort, portalPort, ...admin] = await Promise.all(Array.from({ length: 5 }, () => freePort()));
    const [intakeUrl, portalUrl] = [`http://127.0.0.1:${intakePort}`, `http://127.0.0.1:${portalPort}`];
    const common = { ...stack.env, NODE_OPTIONS: HEAP, ...settings };
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
    driver = await startDriver();
    await ensureRunning();
    const cookieOf = async (account: TestAccount) =>
      fetchSessionCookie(portalUrl, await createPerson(stack, account.id));
    isolation.hostileCookie = await cookieOf(hostile);
    portal = { listUrl: `${portalUrl}/api/accounts/${polite.id}/orders`, cookie: await cookieOf(polite) };
    // A first run without an attack.
    await sendPolitely((answered) => answered(ANSWERED_DURING_ATTACK));
  });

  afterAll(async () => {
    await Promise.all([...running.values(), driver?.child].map((child) => child?.stop()));
  });

  let runs = 0;
  /** Lets the polite account send during other work. */
  async function sendPolitely(meanwhile: Parameters<Driver['sendPolitely']>[1]): Promise<PoliteRun> {
    const load: PoliteLoad = {
      url: isolation.intakeUrl,
      key: isolation.polite.key,
      perSecond: PER_SECOND,
      prefix: `polite-${runs++}`,
      ...(portal && { portal }),
    };
    const run = await (driver as Driver).sendPolitely(load, meanwhile);
    acceptedIds.push(...run.receiptIds);
    return run;
  }

  async function expectUnharmed(attack: (signal: AbortSignal) => Promise<AttackResult>): Promise<AttackResult> {
    await ensureRunning();
    await Promise.all([...running.values()].map(resetPeakMemory));
    let result: AttackResult = { replies: {}, receiptIds: [] };
    const { rejected } = await sendPolitely(async (answered) => {
      const ending = new AbortController();
      void answered(ANSWERED_DURING_ATTACK).then(() => ending.abort());
      result = await attack(ending.signal);
    });
    acceptedIds.push(...result.receiptIds);
    const ended = [...running].filter(([, child]) => !child.isRunning).map(([app]) => [app, printed.get(app)]);
    expect(Object.fromEntries(ended)).toEqual({});
    for (const child of running.values()) expect((await usageOf(child.pid)).memoryMiB).toBeLessThan(MAX_MEMORY_MIB);
    expect(rejected).toEqual({});
    return result;
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
      { everyMs: 250 },
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

/** Resets the kernel's record of a process's peak memory; does nothing without /proc. */
async function resetPeakMemory({ pid }: Child): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {});
}
