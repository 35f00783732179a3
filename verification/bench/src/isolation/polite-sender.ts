import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Connection,
  type LoadRequest,
  openConnection,
  type Reply,
} from '@orders/test-services/load/connection.ts';
import { runLoad } from '@orders/test-services/load/run-load.ts';
import { makeOrder } from '../make-order.ts';

/** What a polite account sends. */
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

/** More than wait for a reply at once, unless replies take seconds. */
const CONNECTIONS = 100;
const RECEIPT_ID = /"receipt_id":"([0-9a-f-]{36})"/g;

/** How a reply is counted: its status, the code of a rejection, or why the connection failed. */
export function outcomeOf({ status, text, failure }: Reply): string {
  const code = status < 300 ? undefined : /"code":"(\w+)"/.exec(text)?.[1];
  return failure ?? (code ? `${status} ${code}` : String(status));
}

export const receiptIdsIn = (text: string): string[] => Array.from(text.matchAll(RECEIPT_ID), ([, id]) => id as string);

interface Call extends LoadRequest {
  name: string;
}

/** The request with this number: every fifth one is to another route, the rest are orders. */
function callOf(
  number: number,
  { url, key, prefix, portal }: PoliteLoad,
  { lastReceipt, isReconciling }: { lastReceipt: string | undefined; isReconciling: boolean },
): Call {
  const id = `${prefix}-${number}`;
  const call = (name: string, body?: string, path = name): Call => ({
    name,
    url: `${url}/ingest/${path}`,
    headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body }),
  });
  const others = [
    () => call('preview', makeOrder(id, number)),
    () => call('orders/batch', `[${[0, 1, 2].map((index) => makeOrder(`${id}-${index}`, index)).join()}]`),
    () => call('reconcile', JSON.stringify({ source_order_ids: [`${prefix}-${number - 1}`, id] })),
    () => call('cancel', JSON.stringify({ source_order_id: `${prefix}-${number - 1}` }), 'orders/cancel'),
    () => call('status', undefined, `status/${lastReceipt}`),
    ...(portal ? [() => ({ name: 'portal', url: portal.listUrl, headers: { Cookie: portal.cookie } })] : []),
  ];
  const other = number % 5 === 4 && lastReceipt ? others[Math.floor(number / 5) % others.length] : undefined;
  const chosen = other?.();
  return chosen && !(isReconciling && chosen.name === 'reconcile') ? chosen : call('orders', makeOrder(id, number));
}

/** A receipt of this run or an earlier one. */
let lastReceipt: string | undefined;

/**
 * Sends at a constant rate, regardless of the replies, until `signal` is aborted; then waits for the remaining replies. Only a reconcile waits
 * for the one before: an account may have few of them at once, and a machine that is slow enough would make this one exceed that.
 */
export async function sendPolitely(
  load: PoliteLoad,
  signal: AbortSignal,
  onAnswered: (count: number) => void,
): Promise<PoliteRun> {
  const rejected: PoliteRun['rejected'] = {};
  const receiptIds: string[] = [];
  const names: string[] = [];
  let answered = 0;
  let isReconciling = false;
  const connections = Array.from({ length: CONNECTIONS }, () => repeatingCancellations(openConnection(load.url)));
  const { latencies } = await runLoad(
    connections,
    { kind: 'open', perSecond: load.perSecond },
    signal,
    (number) => {
      const call = callOf(number, load, { lastReceipt, isReconciling });
      names[number] = call.name;
      isReconciling ||= call.name === 'reconcile';
      return call;
    },
    (reply, number) => {
      const name = names[number] as string;
      const outcome = `${name} ${outcomeOf(reply)}`;
      if (name === 'reconcile') isReconciling = false;
      if (reply.status === 0 || reply.status >= 300) rejected[outcome] = (rejected[outcome] ?? 0) + 1;
      else if (name.startsWith('orders')) receiptIds.push(...receiptIdsIn(reply.text));
      lastReceipt = receiptIds.at(-1) ?? lastReceipt;
      onAnswered(++answered);
    },
  );
  for (const connection of connections) connection.close();
  const latenciesOf = (isWanted: (name: string) => boolean) =>
    [...latencies].filter((_, number) => isWanted(names[number] as string));
  return {
    orders: latenciesOf((name) => name === 'orders'),
    others: latenciesOf((name) => name !== 'orders'),
    rejected,
    receiptIds,
  };
}

/** A cancellation is rejected while its order is being written, and is sent again after a second, as the guides say. */
function repeatingCancellations({ exchange, close }: Connection): Connection {
  return {
    close,
    async exchange(request) {
      for (;;) {
        const reply = await exchange(request);
        if (!request.url?.endsWith('/orders/cancel') || outcomeOf(reply) !== '503 overloaded') return reply;
        await sleep(1000);
      }
    },
  };
}
