import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A message to the polite account's process: send until the message `stop`, then reply with a `PoliteRun`. */
export interface PoliteLoad {
  /** Base URL of intake. */
  url: string;
  key: string;
  perSecond: number;
  /** Prefix of each `source_order_id`. */
  prefix: string;
  /** The account's list in the portal, which its holder requests meanwhile. */
  portal?: { listUrl: string; cookie: string };
}

/** One run of the polite account. Latencies are in milliseconds from the time at which a request was due, so a stall counts for all requests that it delays. */
export interface PoliteRun {
  /** Latencies of single orders. */
  orders: number[];
  /** Latencies of previews, small batches, lists of ids, cancellations, status look-ups and the portal's list: one in five requests. */
  others: number[];
  /** Number of failed requests, by `<route> <status> <code>` or `<route> <connection error>`. */
  rejected: Record<string, number>;
  receiptIds: string[];
}

/** What the process sends: after each reply how many there were in this run, and at the end the run. */
export type PoliteMessage = { answered: number } | { run: PoliteRun };

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
    ...(portal ? [() => ({ name: 'portal', url: portal.listUrl, headers: { Cookie: portal.cookie } })] : []),
  ];
  const other = number % 5 === 4 && lastReceipt ? others[Math.floor(number / 5) % others.length] : undefined;
  return other?.() ?? call('orders', orderOf(id));
}

/** Sends at a constant rate, regardless of the replies, until `signal` is aborted; then waits for the remaining replies. */
async function send(load: PoliteLoad, signal: AbortSignal, report: (message: PoliteMessage) => void): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const run: PoliteRun = { orders: [], others: [], rejected: {}, receiptIds: [] };
  const startedAt = performance.now();
  const sending: Promise<void>[] = [];
  let answered = 0;

  async function sendOne(number: number, due: number): Promise<void> {
    const call = callOf(number, load, lastReceipt);
    const { failure, text } = await exchangePolitely(agent, call);
    (call.name === 'orders' ? run.orders : run.others).push(performance.now() - due);
    if (failure) run.rejected[`${call.name} ${failure}`] = (run.rejected[`${call.name} ${failure}`] ?? 0) + 1;
    else if (call.name.startsWith('orders')) {
      for (const [, id] of text.matchAll(RECEIPT_ID)) {
        run.receiptIds.push(id as string);
        lastReceipt = id;
      }
    }
    answered += 1;
    report({ answered });
  }

  for (let number = 0; !signal.aborted; ) {
    const due = startedAt + (number * 1000) / load.perSecond;
    if (due <= performance.now()) sending.push(sendOne(number++, due));
    else await sleep(1);
  }
  await Promise.all(sending);
  agent.destroy();
  report({ run });
}

/** A cancellation is rejected while its order is being written, and is sent again after a second, as the guides say. */
async function exchangePolitely(agent: Agent, call: Call): Promise<{ failure: string | null; text: string }> {
  for (;;) {
    const reply = await exchange(agent, call);
    if (call.name !== 'cancel' || reply.failure !== '503 overloaded') return reply;
    await sleep(1000);
  }
}

/** Sends one request; never fails. */
function exchange(agent: Agent, { url, headers, body }: Call): Promise<{ failure: string | null; text: string }> {
  return new Promise((resolve) => {
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

/** A receipt of this run or an earlier one. */
let lastReceipt: string | undefined;
let stopping: AbortController | undefined;
process.on('message', (message: PoliteLoad | 'stop') => {
  if (message === 'stop') return stopping?.abort();
  stopping = new AbortController();
  void send(message, stopping.signal, (answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
