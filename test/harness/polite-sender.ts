import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { largestOrder } from './attack.ts';

/** A message to the polite account's process: send until the message `stop`, then reply with a `PoliteRun`. */
export interface PoliteLoad {
  /** Base URL of intake. */
  url: string;
  /** Process ids, to measure how long they wait for a CPU. */
  intakePid: number;
  portalPid: number;
  key: string;
  perSecond: number;
  /** Prefix of each `source_order_id`. */
  prefix: string;
  /** The account's list in the portal, which its holder requests meanwhile. */
  portal: { listUrl: string; cookie: string };
}

/**
 * One run of the polite account. Latencies are in milliseconds from the time at which a request was due, so a stall counts for all requests
 * that it delays. The time that the serving process waited for a CPU is subtracted, so that a busy machine changes little.
 */
export interface PoliteRun {
  /** Latencies of single orders. */
  orders: number[];
  /** Latencies of previews, small batches, lists of ids, cancellations, status look-ups and the portal's list: one in five requests. */
  others: number[];
  /** Number of failed requests, by `<route> <status> <code>` or `<route> <connection error>`. */
  refused: Record<string, number>;
  receiptIds: string[];
  /** Durations of a fixed piece of work during the run, in milliseconds: they measure how slow and busy the machine is. */
  work: number[];
}

const RECEIPT_ID = /"receipt_id":"([0-9a-f-]{36})"/g;
/** A typical order. */
const orderOf = (id: string) => ({
  source_order_id: id,
  customer: { name: 'Aisha Al Mansoori', phone: '050-123 4567', email: 'aisha@example.com' },
  address: 'Apt 12, Marina Heights, Dubai Marina',
  emirate: 'Dubai',
  items: [
    { name: 'Karak', quantity: 3, sku: null },
    { name: 'Basmati Rice 5kg', quantity: 1, sku: 'GR-114' },
  ],
  total: '84.50',
});

interface Call {
  name: string;
  url: string;
  headers: Record<string, string>;
  body?: object;
}

/** The request with this number: every fifth one is to another route, the rest are orders. */
function callOf(number: number, { url, key, prefix, portal }: PoliteLoad, lastReceipt: string | undefined): Call {
  const id = `${prefix}-${number}`;
  const call = (name: string, body?: object, path = name): Call => {
    const headers = { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) };
    return { name, url: `${url}/ingest/${path}`, headers, ...(body && { body }) };
  };
  const others = [
    () => call('preview', orderOf(id)),
    () =>
      call(
        'orders/batch',
        [0, 1, 2].map((index) => orderOf(`${id}-${index}`)),
      ),
    () => call('reconcile', { source_order_ids: [`${prefix}-${number - 1}`, id] }),
    () => call('cancel', { source_order_id: `${prefix}-${number - 1}` }, 'orders/cancel'),
    () => call('status', undefined, `status/${lastReceipt}`),
    () => ({ name: 'portal', url: portal.listUrl, headers: { Cookie: portal.cookie } }),
  ];
  const other = number % 5 === 4 && lastReceipt ? others[Math.floor(number / 5) % others.length] : undefined;
  return other?.() ?? call('orders', orderOf(id));
}

/** Sends at a constant rate, regardless of the replies, until `signal` is aborted; then waits for the remaining replies. */
async function send(load: PoliteLoad, signal: AbortSignal): Promise<PoliteRun> {
  const agent = new Agent({ keepAlive: true });
  const run: PoliteRun = { orders: [], others: [], refused: {}, receiptIds: [], work: [] };
  const recordWork = (ms: number) => run.work.push(ms);
  workTimer.on('message', recordWork);
  const startedAt = performance.now();
  const sending: Promise<void>[] = [];

  async function sendOne(number: number, due: number): Promise<void> {
    const call = callOf(number, load, lastReceipt);
    const pid = call.name === 'portal' ? load.portalPid : load.intakePid;
    const waitedBefore = cpuWaitMs(pid);
    const { failure, text } = await exchange(agent, call);
    (call.name === 'orders' ? run.orders : run.others).push(
      performance.now() - due - Math.max(0, cpuWaitMs(pid) - waitedBefore),
    );
    if (failure) run.refused[`${call.name} ${failure}`] = (run.refused[`${call.name} ${failure}`] ?? 0) + 1;
    else if (call.name.startsWith('orders')) {
      for (const [, id] of text.matchAll(RECEIPT_ID)) {
        run.receiptIds.push(id as string);
        lastReceipt = id;
      }
    }
  }

  for (let number = 0; !signal.aborted; ) {
    const due = startedAt + (number * 1000) / load.perSecond;
    if (due <= performance.now()) sending.push(sendOne(number++, due));
    else await sleep(1);
  }
  await Promise.all(sending);
  agent.destroy();
  workTimer.off('message', recordWork);
  return run;
}

/** Sends one request; never fails. */
function exchange(agent: Agent, { url, headers, body }: Call) {
  return new Promise<{ failure: string | null; text: string }>((resolve) => {
    const sent = request(url, { agent, method: body ? 'POST' : 'GET', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', (error) => resolve({ failure: error.message, text }));
      response.on('end', () => {
        const code = /"code":"(\w+)"/.exec(text)?.[1];
        const isSuccess = (response.statusCode ?? 0) < 300;
        resolve({ failure: isSuccess ? null : `${response.statusCode} ${code}`, text });
      });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ failure: error.code ?? error.message, text: '' }));
    sent.end(body && JSON.stringify(body));
  });
}

/** How long a process's main thread has waited for a CPU since its start, in milliseconds; 0 if the kernel does not report it. */
function cpuWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

const WORK_INTERVAL_MS = 200;

/** Measures the parsing of the largest order in its own thread, so that no request of the polite account waits for it. */
async function measureWork(): Promise<void> {
  const text = largestOrder('work').toString();
  for (;;) {
    const startedAt = performance.now();
    JSON.parse(text);
    parentPort?.postMessage(performance.now() - startedAt);
    await sleep(WORK_INTERVAL_MS);
  }
}

if (!isMainThread) await measureWork();
const workTimer = new Worker(import.meta.filename);
/** A receipt of this run or an earlier one. */
let lastReceipt: string | undefined;
let stopping: AbortController | undefined;
process.on('message', (message: PoliteLoad | 'stop') => {
  if (message === 'stop') return stopping?.abort();
  stopping = new AbortController();
  void send(message, stopping.signal).then((run) => process.send?.(run));
});
process.on('disconnect', () => process.exit());
