import { type Cancellation, type CancelResult, OrdersClient } from '@orders/client';
import { MAX_CANCEL_BYTES, MAX_CANCELLATIONS } from '@orders/domain/interface-limits.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import type { Context } from '../context.ts';
import { count, plural } from '../count.ts';
import { createRetryGate, endOfRun } from '../send/retry-gate.ts';
import type { SenderConfig } from '../sender-config.ts';

/** How to send the cancellations. */
export interface CancelOptions {
  webhook?: boolean;
  /** In milliseconds. */
  giveUpAfter: number;
}

/** The outcomes of all cancellations, or of those that were sent before an error. */
export interface CancelRun {
  results: CancelResult[];
  /** Why it ended early; null if all have an outcome. */
  error: unknown;
}

const TIMEOUT_MS = 30_000;
/** Leaves room for the JSON around the list. */
const LIMITS = { size: MAX_CANCEL_BYTES - 100, count: MAX_CANCELLATIONS };

/** Sends cancellations, as many in a request as the service takes, one request after the other. */
export async function runCancel(
  cancellations: readonly Cancellation[],
  { webhook, giveUpAfter }: CancelOptions,
  { url, apiKey, signingSecret }: SenderConfig,
  { cliContext, report }: Context,
): Promise<CancelRun> {
  const client = new OrdersClient({ baseUrl: url, apiKey, signingSecret, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
  const { signal } = new AbortController();
  const gate = createRetryGate({ giveUpAfterMs: giveUpAfter, signal }, (wait) => {
    if (wait) report(`Waits ${Math.ceil(wait.ms / 1000)} s: ${wait.why}.`);
  });
  const results: CancelResult[] = [];
  const progress = () => `${count(results.length)} of ${plural(cancellations.length, 'order')} done.`;
  cliContext.onInterrupt?.(() => `\n${progress()} The same command is safe to repeat.\n`);
  const bytesOf = (cancellation: Cancellation) => Buffer.byteLength(JSON.stringify(cancellation)) + 1;
  try {
    for (const chunk of chunkBySize(cancellations, bytesOf, LIMITS)) {
      const send = () => client.cancelOrders(chunk, { via: webhook ? 'webhook' : 'rest' });
      results.push(...(await gate.run(send)).results);
      if (results.length < cancellations.length) report(progress());
    }
    return { results, error: null };
  } catch (error) {
    return { results, error: endOfRun(error) };
  }
}
