import { beforeAll, expect } from '@jest/globals';
import { isFinal } from '@orders/domain';
import { type Child, freePort } from '@orders/test-services';
import type { AttackResult } from '../../packages/bench/src/isolation/attack.ts';
import { type Attack, launch } from '../../packages/bench/src/isolation/attacks.ts';
import type { PoliteLoad, PoliteRun } from '../../packages/bench/src/isolation/polite-sender.ts';
import { type PoliteSender, startPoliteSender } from '../../packages/bench/src/isolation/start-polite-sender.ts';
import { resetPeakMemory, usageOf } from '../../packages/bench/src/measure/processes.ts';
import { closeAtEnd } from './close-at-end.ts';
import { createPerson, type TestPerson } from './people.ts';
import { startApp, untilReady } from './processes.ts';
import { QUEUE_KINDS } from './queue.ts';
import { type Stack, startStack, type TestAccount } from './stack.ts';
import { until } from './until.ts';

/** Node's heap limit in a pod of 1 GiB. */
const HEAP = '--max-old-space-size=512';
/** Max memory of each process, below the limit of such a pod. */
const MAX_MEMORY_MIB = 900;
/** Times that no machine reaches, so that what is rejected was rejected because of the attack. */
const LONG = { LEASE: '10m', PG_QUERY_TIMEOUT: '10m', REQUEST_TIMEOUT: '10m', IDLE_TIMEOUT: '10m' };

const PER_SECOND = 50;
/** An attack goes on until the polite account has had this many replies meanwhile. */
const ENOUGH = 75;

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
   * @param attack by the hostile account, or what runs until its signal is aborted, then finishes its requests in flight.
   * @returns the replies to the attack.
   */
  expectUnharmed(attack: Attack | ((signal: AbortSignal) => Promise<AttackResult>)): Promise<AttackResult>;
  /** Adds receipts that a test got outside an attack. */
  addReceipts(receiptIds: readonly string[]): void;
  /** Expects that each receipt in a 202 exists and reaches a final state. */
  expectAllFinal(): Promise<void>;
}

/** Starts intake, worker and portal as separate processes with a small heap, for all attacks of a test file. */
export function useIsolation(settings: Record<string, string> = {}): Isolation {
  const running = new Map<'intake' | 'worker' | 'portal', Child>();
  const printed = new Map<string, string>();
  const acceptedIds = new Set<string>();
  let politeSender: PoliteSender;
  let env: Record<string, Record<string, string>> = {};
  let portal: PoliteLoad['portal'];
  const addReceipts: Isolation['addReceipts'] = (receiptIds) => {
    for (const id of receiptIds) acceptedIds.add(id);
  };
  const isolation = { expectUnharmed, expectAllFinal, addReceipts } as Isolation;

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
    const common = { ...stack.env, ...LONG, NODE_OPTIONS: HEAP, ...settings };
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
    politeSender = await startPoliteSender();
    closeAtEnd({ close: () => politeSender.child.stop() });
    await ensureRunning();
    const cookieOf = async (account: TestAccount) =>
      fetchSessionCookie(portalUrl, await createPerson(stack, account.id));
    isolation.hostileCookie = await cookieOf(hostile);
    portal = { listUrl: `${portalUrl}/api/accounts/${polite.id}/orders`, cookie: await cookieOf(polite) };
  });

  let runs = 0;
  /** Lets the polite account send during other work. @param meanwhile gets a promise for enough replies. */
  async function sendPolitely(meanwhile: (enough: Promise<void>) => Promise<unknown>): Promise<PoliteRun> {
    const load: PoliteLoad = {
      url: isolation.intakeUrl,
      key: isolation.polite.key,
      perSecond: PER_SECOND,
      prefix: `polite-${runs++}`,
      enough: ENOUGH,
      ...(portal && { portal }),
    };
    const run = await politeSender.sendDuring(load, meanwhile);
    addReceipts(run.receiptIds);
    return run;
  }

  async function expectUnharmed(attack: Parameters<Isolation['expectUnharmed']>[0]): Promise<AttackResult> {
    const { intakeUrl, hostile } = isolation;
    const run =
      typeof attack === 'function'
        ? attack
        : (signal: AbortSignal) => launch(attack, { intakeUrl, key: hostile.key, signal });
    await ensureRunning();
    await Promise.all([...running.values()].map(({ pid }) => resetPeakMemory(pid)));
    let result: AttackResult = { replies: {}, receiptIds: [] };
    const { rejected } = await sendPolitely(async (enough) => {
      const ending = new AbortController();
      void enough.then(() => ending.abort());
      result = await run(ending.signal);
    });
    addReceipts(result.receiptIds);
    const ended = [...running].filter(([, child]) => !isAlive(child)).map(([app]) => [app, printed.get(app)]);
    expect(Object.fromEntries(ended)).toEqual({});
    for (const { pid } of running.values()) expect((await usageOf(pid))?.memoryMiB ?? 0).toBeLessThan(MAX_MEMORY_MIB);
    expect(rejected).toEqual({});
    return result;
  }

  /** The bound of each wait is for one more receipt, as a slow machine has minutes of work left after an attack. */
  async function expectAllFinal(): Promise<void> {
    for (let left = Number.POSITIVE_INFINITY; left > 0; )
      left = await until(
        `fewer than ${left} receipts are not final`,
        async () => {
          const unfinished = await countUnfinished();
          return unfinished < left && { unfinished };
        },
        { everyMs: 250 },
      ).then(({ unfinished }) => unfinished);
  }

  /** Of the receipts in 202 replies; one that does not exist counts too. */
  async function countUnfinished(): Promise<number> {
    const { rows } = await isolation.stack.database.knex.raw<{ rows: StateCount[] }>(
      'select state, count(*)::int from receipts where receipt_id = any(?::uuid[]) group by state',
      [[...acceptedIds]],
    );
    return rows.reduce((left, { state, count }) => (isFinal(state) ? left - count : left), acceptedIds.size);
  }

  return isolation;
}

interface StateCount {
  state: Parameters<typeof isFinal>[0];
  count: number;
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
