import { MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import { BATCH_BYTES, cutBatches } from '@orders/order-files/cut-batches.ts';
import type { Rejection, SourceOrder } from '@orders/order-files/read-order.ts';
import { useSyncExternalStore } from 'react';
import type { Outcome } from '../../../../../src/uploads/find-outcomes.ts';
import type { UploadResult } from '../../../../../src/uploads/record-orders.ts';
import { call, isProblem } from '../../../api/client.ts';

/** An order with what became of it. */
export interface SentOrder extends SourceOrder {
  receiptId?: string;
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
const FINAL: ReadonlySet<string> = new Set(['written', 'duplicate', 'dead']);

let current: Sending | null = null;
let ending = new AbortController();
const listeners = new Set<() => void>();

function change(changed: Partial<Sending>): void {
  if (current) set({ ...current, ...changed });
}

function set(next: Sending | null): void {
  current = next;
  // Closing the tab ends it.
  if (isRunning()) window.addEventListener('beforeunload', askToStay);
  else window.removeEventListener('beforeunload', askToStay);
  for (const listener of listeners) listener();
}

function isRunning(): boolean {
  return current?.phase === 'sending' || current?.phase === 'waiting';
}

function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The file of this account that is being sent, or was sent last; null if there is none. */
export function useSending(accountId: number): Sending | null {
  const sending = useSyncExternalStore(subscribe, () => current);
  return sending?.accountId === accountId ? sending : null;
}

/** Sends the orders of a file. One file at a time: a second call while it runs does nothing. */
export function startSending(accountId: number, fileName: string, orders: readonly SourceOrder[]): void {
  if (isRunning()) return;
  const copies = orders.map((order): SentOrder => ({ ...order }));
  set({ accountId, fileName, orders: copies, sent: 0, settled: 0, phase: 'sending', error: null, isRetrying: false });
  void run();
}

/** Sends the rest after it was stopped. */
export function resumeSending(): void {
  if (current?.phase !== 'stopped') return;
  change({ phase: 'sending', error: null });
  void run();
}

/** Stops before the next batch. */
export function stopSending(): void {
  ending.abort();
}

/** Forgets the file, to send another one. */
export function forgetSending(): void {
  if (!isRunning()) set(null);
}

async function run(): Promise<void> {
  if (!current) return;
  ending = new AbortController();
  const { accountId, orders } = current;
  try {
    await sendAll(accountId, orders);
    change({ phase: 'waiting' });
    await followAll(accountId, orders);
    change({ phase: 'done' });
  } catch (error) {
    change({ phase: 'stopped', error: ending.signal.aborted ? null : error, isRetrying: false });
  }
}

/** The same batches each time, so that one that was sent is replayed. */
async function sendAll(accountId: number, orders: readonly SentOrder[]): Promise<void> {
  let sent = 0;
  for await (const batch of cutBatches(each(orders), { orders: MAX_BATCH_ORDERS, bytes: BATCH_BYTES })) {
    const sendable = batch.filter(({ receiptId, rejection }) => receiptId === undefined && !rejection);
    const [first] = sendable;
    if (first) {
      const body = { first_position: first.position, orders: sendable.map(({ text }) => text) };
      const { results } = await patiently<{ results: UploadResult[] }>(accountId, 'orders', body);
      for (const [index, result] of results.entries()) {
        const order = sendable[index] as SentOrder;
        if ('error' in result) order.rejection = result.error;
        else {
          order.receiptId = result.receipt_id;
          order.isReplay = result.duplicate === true;
        }
      }
    }
    sent += batch.length;
    change({ sent });
  }
}

async function followAll(accountId: number, orders: readonly SentOrder[]): Promise<void> {
  let settled = orders.filter(({ receiptId }) => receiptId === undefined).length;
  change({ settled });
  const accepted = orders.filter(({ receiptId }) => receiptId !== undefined);
  for (let start = 0; start < accepted.length; start += MAX_BATCH_ORDERS) {
    let open = accepted.slice(start, start + MAX_BATCH_ORDERS);
    for (let pause = FIRST_PAUSE_MS / 2; open.length > 0; pause = Math.min(MAX_PAUSE_MS, pause * 1.5)) {
      const receipt_ids = open.map(({ receiptId }) => receiptId as string);
      const { outcomes } = await patiently<{ outcomes: Outcome[] }>(accountId, 'outcomes', { receipt_ids });
      const byId = new Map(outcomes.map((outcome) => [outcome.receipt_id, outcome]));
      for (const order of open) {
        const outcome = byId.get(order.receiptId as string);
        if (outcome) order.outcome = outcome;
      }
      const before = open.length;
      // A receipt that no longer exists is not asked for again.
      open = open.filter(({ outcome }) => outcome !== undefined && !FINAL.has(outcome.state));
      settled += before - open.length;
      change({ settled });
      if (open.length > 0) await sleep(pause);
    }
  }
}

async function* each<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values;
}

/** Repeats a request until it succeeds, the user stops it, or it could never succeed. */
async function patiently<Result>(accountId: number, what: string, body: object): Promise<Result> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    ending.signal.throwIfAborted();
    try {
      const result = await call<Result>('POST', `/accounts/${accountId}/uploads/${what}`, { body });
      change({ isRetrying: false });
      return result;
    } catch (error) {
      const isTemporary = isProblem(error) && (error.status === 0 || error.status === 429 || error.status >= 500);
      if (!isTemporary) throw error;
      change({ isRetrying: true });
      await sleep(pause);
    }
  }
}

/** @throws once the user stops it. */
function sleep(ms: number): Promise<void> {
  const { signal } = ending;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** What became of an order; `open` until it is known. */
export type Result = 'open' | 'rejected' | 'dead' | 'differs' | 'contradicts' | 'duplicate' | 'written' | 'gone';

export function resultOf(order: SentOrder, phase: Sending['phase']): Result {
  const { rejection, receiptId, isReplay, outcome, contradictions = [] } = order;
  if (rejection) return 'rejected';
  if (!outcome) return receiptId !== undefined && phase === 'done' ? 'gone' : 'open';
  if (outcome.state === 'dead') return 'dead';
  if (outcome.differs) return 'differs';
  if (outcome.state !== 'written') return outcome.state === 'duplicate' ? 'duplicate' : 'open';
  if (isReplay) return 'duplicate';
  return contradictions.length > 0 ? 'contradicts' : 'written';
}

/** Why an order was rejected, in one line. */
export function reasonOf({ detail, errors = [] }: Rejection): string {
  return errors.length === 0 ? detail : errors.map(({ pointer, detail: what }) => `${pointer}: ${what}`).join(' ');
}
