import { OrdersClient } from '@orders/client';
import type { Way } from '@orders/order-files/batch-key.ts';
import { BATCH_BYTES, cutBatches } from '@orders/order-files/cut-batches.ts';
import type { SourceOrder } from '@orders/order-files/read-order.ts';
import type { CliContext } from '../context.ts';
import { Failure } from '../errors.ts';
import { createRetryGate, endOfRun, type Session } from '../retry-gate.ts';
import type { SenderConfig } from '../sender-config.ts';
import { type FailedOrders, writeFailedFile } from './failed-orders.ts';
import { createFollowUp, type FollowedOrder } from './follow-up.ts';
import { type Progress, showProgress } from './progress.ts';
import type { Input } from './read-input.ts';
import { type Report, STATUSES, type Status } from './report.ts';
import { createSend, type SentOrder, sendInOrder } from './send-batches.ts';
import { openSpool, type Spool } from './spool.ts';

/** What to send, and how. */
export interface SendPlan {
  input: Input;
  way: Way;
  batchSize: number;
  concurrency: number;
  giveUpAfter: number;
  /** Max wait for the outcomes in milliseconds; false to not ask for them. */
  wait: number | false;
  failedPath: string | null;
}

/** Orders whose outcomes are asked for together. */
const FOLLOWED = { orders: 1_000, bytes: BATCH_BYTES };
const TIMEOUT_MS = 30_000;
const NEXT_STEP = 'The same command then sends what is missing: no order is stored twice.';

/** Sends the orders of an input, waits for their outcomes, and writes the file of failures. */
export async function runSend(
  plan: SendPlan,
  { url, apiKey, signingSecret }: SenderConfig,
  { stderr, onInterrupt }: Pick<CliContext, 'stderr' | 'onInterrupt'>,
  failed: FailedOrders,
): Promise<Report> {
  const { input, way, batchSize, concurrency, giveUpAfter, wait, failedPath } = plan;
  const sent = openSpool<SentOrder>(failedPath);
  onInterrupt?.(() => `\n${NEXT_STEP}\n`);
  const progress = showProgress(input, stderr);
  const ending = new AbortController();
  const { signal } = ending;
  const client = new OrdersClient({ baseUrl: url, apiKey, signingSecret, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
  const sessionOf = (giveUpAfterMs: number): Session => ({
    client,
    gate: createRetryGate({ giveUpAfterMs, signal }, progress.wait),
    signal,
  });
  let hasSent = false;
  const send = createSend(sessionOf(giveUpAfter), way);
  try {
    const batches = cutBatches(input.orders(), { orders: way.webhook ? 1 : batchSize, bytes: BATCH_BYTES });
    const sendNext = (batch: readonly SourceOrder[]) => {
      hasSent = true;
      return send(batch);
    };
    for await (const orders of sendInOrder(batches, sendNext, concurrency)) {
      sent.add(orders);
      progress.replied(orders);
    }
    const followUp = wait === false ? null : createFollowUp(sessionOf(wait), wait);
    const statuses = await collectOutcomes(sent, followUp, progress, failed);
    if (failedPath !== null) await writeFailedFile(failedPath, failed);
    return { ...progress.counts(), ...input.facts, statuses, not_asked: followUp?.lostBecause() ?? null };
  } catch (error) {
    const reason = endOfRun(error);
    throw hasSent && reason instanceof Failure ? new Failure(`${reason.message} ${NEXT_STEP}`) : reason;
  } finally {
    ending.abort();
    progress.close();
    sent.close();
  }
}

async function collectOutcomes(
  sent: Spool<SentOrder>,
  followUp: ReturnType<typeof createFollowUp> | null,
  progress: Progress,
  failed: FailedOrders,
): Promise<Record<Status, number>> {
  const statuses = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
  for await (const batch of cutBatches(sent.read(), FOLLOWED)) {
    const orders = batch.map((order): FollowedOrder => ({ ...order, status: 'not_asked' }));
    if (followUp) {
      await followUp.follow(orders);
      progress.followed(orders.filter(({ rejection }) => !rejection).length);
    }
    for (const order of orders) {
      if (!order.rejection) statuses[followUp ? statusOf(order) : 'not_followed'] += 1;
      failed.add(order);
    }
  }
  return statuses;
}

function statusOf({ status }: FollowedOrder): Status {
  return status === 'received' || status === 'normalized' || status === 'not_asked' ? 'pending' : status;
}
