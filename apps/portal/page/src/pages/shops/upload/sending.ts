import { MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import { isFinal } from '@orders/domain/receipt-states.ts';
import { BATCH_BYTES, cutBatches } from '@orders/order-files/cut-batches.ts';
import type { Rejection, SourceOrder } from '@orders/order-files/read-order.ts';
import type { Outcome } from '../../../../../src/uploads/find-outcomes.ts';
import type { UploadResult } from '../../../../../src/uploads/record-orders.ts';
import { call, isProblem } from '../../../api/client.ts';
import { createStore } from '../../../components/store.ts';
import { createUnloadGuard } from '../../../components/unload-guard.ts';

/** An order with what became of it. */
export interface SentOrder extends SourceOrder {
  receiptId?: string;
  /** Whether a request with it was sent. */
  isSent?: boolean;
  /** Whether it had arrived before, in the same file at the same position. */
  isReplay?: boolean;
  outcome?: Outcome;
}

/** A file that is sent, or was. It goes on while other pages of the portal are open. */
export interface Sending {
  accountId: number;
  fileName: string;
  orders: readonly SentOrder[];
  /** Orders with a receipt or a rejection. */
  sent: number;
  /** Orders whose outcome is known. */
  settled: number;
  phase: 'sending' | 'waiting' | 'stopped' | 'done';
  /** Why it stopped; null if the user stopped it. */
  error: unknown;
  /** Whether the last request failed and is repeated. */
  isRetrying: boolean;
}

const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [1000, 10_000];
/** A request without a reply for this long is repeated. */
const TIMEOUT_MS = 60_000;

/** By their account. */
const sendings = createStore<ReadonlyMap<number, Sending>>(new Map());
const endings = new Map<number, AbortController>();
// Closing the tab ends them.
const guardUnload = createUnloadGuard();

function set(accountId: number, sending: Sending | null): void {
  const others = [...sendings.get()].filter(([id]) => id !== accountId);
  const all = new Map(sending ? [...others, [accountId, sending]] : others);
  sendings.set(all);
  guardUnload([...all.values()].some(isRunning));
}

function change(accountId: number, changed: Partial<Sending>): void {
  const sending = sendings.get().get(accountId);
  if (sending) set(accountId, { ...sending, ...changed });
}

function isRunning({ phase }: Sending): boolean {
  return phase === 'sending' || phase === 'waiting';
}

/** The file of this account that is being sent, or was sent last; null if there is none. */
export function useSending(accountId: number): Sending | null {
  return sendings.use((all) => all.get(accountId) ?? null);
}

/** Sends the orders of a file, unless one of the account is being sent. */
export function startSending(accountId: number, fileName: string, orders: readonly SourceOrder[]): void {
  if (sendings.get().has(accountId)) return;
  const copies = orders.map((order): SentOrder => ({ ...order }));
  const start = { sent: 0, settled: 0, phase: 'sending', error: null, isRetrying: false } as const;
  set(accountId, { accountId, fileName, orders: copies, ...start });
  void run(accountId, copies);
}

/** Sends the rest after it was stopped. */
export function resumeSending({ accountId, orders, phase }: Sending): void {
  if (phase !== 'stopped') return;
  change(accountId, { phase: 'sending', error: null });
  void run(accountId, orders);
}

/** Stops at once. What the last request sent may have arrived. */
export function stopSending({ accountId }: Sending): void {
  endings.get(accountId)?.abort();
}

/** Forgets the file, to send another one. */
export function forgetSending(sending: Sending): void {
  if (!isRunning(sending)) set(sending.accountId, null);
}

async function run(accountId: number, orders: readonly SentOrder[]): Promise<void> {
  const ending = new AbortController();
  endings.set(accountId, ending);
  const { signal } = ending;
  const ask = <Result>(what: string, list: string, body: object) =>
    patiently<Result>(`/accounts/${accountId}/uploads/${what}`, list, body, signal, (isRetrying) =>
      change(accountId, { isRetrying }),
    );
  try {
    await sendAll(orders, ask, (sent) => change(accountId, { sent }));
    change(accountId, { phase: 'waiting' });
    await followAll(orders, ask, signal, (settled) => change(accountId, { settled }));
    change(accountId, { phase: 'done' });
  } catch (error) {
    change(accountId, { phase: 'stopped', error: signal.aborted ? null : error, isRetrying: false });
  }
}

type Ask = <Result>(what: string, list: string, body: object) => Promise<Result[]>;

/** The same batches each time, so that one that was sent is replayed. */
async function sendAll(orders: readonly SentOrder[], ask: Ask, onSent: (sent: number) => void): Promise<void> {
  let sent = 0;
  for await (const batch of cutBatches(each(orders), { orders: MAX_BATCH_ORDERS, bytes: BATCH_BYTES })) {
    await sendBatch(
      batch.filter(({ receiptId, rejection }) => receiptId === undefined && !rejection),
      ask,
    );
    sent += batch.length;
    onSent(sent);
  }
}

async function sendBatch(batch: readonly SentOrder[], ask: Ask): Promise<void> {
  const [first] = batch;
  if (!first) return;
  const wasSent = first.isSent === true;
  for (const order of batch) order.isSent = true;
  try {
    const body = { first_position: first.position, orders: batch.map(({ text }) => text) };
    const results = await ask<UploadResult>('orders', 'results', body);
    for (const [index, result] of results.entries()) {
      const order = batch[index] as SentOrder;
      if ('error' in result) order.rejection = result.error;
      else {
        order.receiptId = result.receipt_id;
        // One that was sent before may have arrived, and its reply was lost.
        order.isReplay = result.duplicate === true && !wasSent;
      }
    }
  } catch (error) {
    if (!isProblem(error) || error.status !== 413) throw error;
    // A proxy has a smaller limit.
    const middle = batch.length >> 1;
    if (middle === 0) first.rejection = { status: 413, code: error.code, detail: error.message };
    else for (const half of [batch.slice(0, middle), batch.slice(middle)]) await sendBatch(half, ask);
  }
}

async function followAll(
  orders: readonly SentOrder[],
  ask: Ask,
  signal: AbortSignal,
  onSettled: (settled: number) => void,
): Promise<void> {
  const accepted = orders.filter(({ receiptId }) => receiptId !== undefined);
  let settled = orders.length - accepted.length;
  onSettled(settled);
  for (let start = 0; start < accepted.length; start += MAX_BATCH_ORDERS) {
    let open = accepted.slice(start, start + MAX_BATCH_ORDERS);
    for (let pause = FIRST_PAUSE_MS / 2; open.length > 0; pause = Math.min(MAX_PAUSE_MS, pause * 1.5)) {
      const receipt_ids = open.map(({ receiptId }) => receiptId as string);
      const outcomes = await ask<Outcome>('outcomes', 'outcomes', { receipt_ids });
      const byId = new Map(outcomes.map((outcome) => [outcome.receipt_id, outcome]));
      for (const order of open) {
        const outcome = byId.get(order.receiptId as string);
        if (outcome) order.outcome = outcome;
      }
      const before = open.length;
      // A receipt that no longer exists is not asked for again.
      open = open.filter(({ outcome }) => outcome !== undefined && !isFinal(outcome.state));
      settled += before - open.length;
      onSettled(settled);
      if (open.length > 0) await sleep(pause, signal);
    }
  }
}

async function* each<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values;
}

/** Repeats a request until it succeeds, the user stops it, or it could never succeed. @returns the list of this name in the reply. */
async function patiently<Result>(
  path: string,
  list: string,
  body: object,
  signal: AbortSignal,
  onRetrying: (isRetrying: boolean) => void,
): Promise<Result[]> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    signal.throwIfAborted();
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const reply = await call<Record<string, Result[]>>('POST', path, {
        body,
        signal: AbortSignal.any([signal, timeout]),
      });
      // Without a list, it was cut off.
      if (reply[list]) {
        onRetrying(false);
        return reply[list];
      }
    } catch (error) {
      const isTemporary = isProblem(error) && (error.status === 0 || error.status === 429 || error.status >= 500);
      if (!isTemporary && !timeout.aborted) throw error;
    }
    onRetrying(true);
    await sleep(pause, signal);
  }
}

/** @throws once the user stops it. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => reject(signal.reason);
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', stop);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}

/** What can become of an order, in the order shown; `open` until it is known. */
export const RESULTS = [
  'written',
  'duplicate',
  'differs',
  'contradicts',
  'rejected',
  'dead',
  'gone',
  'open',
  'unsent',
] as const;
export type Result = (typeof RESULTS)[number];

export function resultOf(order: SentOrder, phase: Sending['phase']): Result {
  const { rejection, receiptId, isReplay, outcome, contradictions = [] } = order;
  if (rejection) return 'rejected';
  if (receiptId === undefined) return 'unsent';
  if (!outcome) return phase === 'done' ? 'gone' : 'open';
  if (outcome.state === 'dead') return 'dead';
  if (outcome.differs) return 'differs';
  if (!isFinal(outcome.state)) return 'open';
  if (contradictions.length > 0) return 'contradicts';
  return isReplay || outcome.state === 'duplicate' ? 'duplicate' : 'written';
}

/** Why an order was rejected, in one line. */
export function reasonOf({ detail, errors = [] }: Rejection): string {
  return errors.length === 0 ? detail : errors.map(({ pointer, detail: what }) => `${pointer}: ${what}`).join(' ');
}
