import { NotFoundError, OrdersClient } from '@orders/client';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import type { SenderConfig } from '../sender-config.ts';
import type { Batch, BatchLimits } from './cut-batches.ts';
import { byBatches, byWebhook } from './deliver.ts';
import { type FailedOrder, failureOf, openFailureFile, refusalOf } from './failures.ts';
import { followUp, type Outcome } from './follow-up.ts';
import { createGate, failureOf as fatal, type Gate } from './gate.ts';
import { type Journal, openJournal, type Result } from './journal.ts';
import { type Progress, showProgress } from './progress.ts';
import type { Input } from './read-input.ts';
import type { Report, Status } from './report.ts';
import { sendBatches } from './send-batches.ts';
import type { SourceOrder } from './source-order.ts';

/** How an input is sent. */
export interface SendPlan {
  input: Input;
  /** Of all orders of the input, those that are to be sent. */
  orders: AsyncIterable<SourceOrder>;
  journalPath: string;
  /** For how long the journal is of use: to a later run of the same, until all was sent, or to this run alone. */
  keepJournal: 'always' | 'until sent' | 'never';
  failedPath: string | null;
  restart: boolean;
  webhook: boolean;
  strict: boolean;
  batchSize: number;
  concurrency: number;
  giveUpAfterMs: number;
  /** Null not to ask what became of the orders. */
  waitMs: number | null;
}

/** With its line break it stays below the megabyte that many proxies let through. */
const BATCH_BYTES = 1_000_000;
/** Webhooks go one by one; what is on record together is sent again together. */
const WEBHOOKS_ON_RECORD = 100;
const SHOWN_FAILURES = 5;
/** The client gives a third of it to an attempt, and there is one. */
const TIMEOUT_MS = 90_000;

/** Sends the orders of an input, waits for what becomes of them, and reports. What was sent by an earlier run is not sent again. */
export async function runSend(plan: SendPlan, config: SenderConfig, { surroundings }: Context): Promise<Report> {
  const { input, journalPath: path, webhook } = plan;
  const journal = await openJournal(path, { size: input.size, url: config.url }, plan);
  surroundings.onInterrupt?.(() => `\n${howToGoOn(plan)}\n`);
  const progress: Progress = { orders: 0, refused: 0, share: null, wait: null, followed: null };
  const display = showProgress(progress, surroundings.stderr);
  const ending = new AbortController();
  try {
    const { url: baseUrl, apiKey, signingSecret } = config;
    const client = new OrdersClient({ baseUrl, apiKey, signingSecret, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
    const { signal } = ending;
    const onWait = (wait: { ms: number; why: string } | null) => {
      progress.wait = wait && { until: performance.now() + wait.ms, why: wait.why };
    };
    const gate = createGate({ giveUpAfterMs: plan.giveUpAfterMs, signal }, onWait);
    await requireSameAccount(journal, client, gate);

    const way = { client, gate, strict: plan.strict, signal };
    const limits: BatchLimits = webhook
      ? { orders: Math.min(plan.batchSize, WEBHOOKS_ON_RECORD), bytes: BATCH_BYTES }
      : { orders: plan.batchSize, bytes: BATCH_BYTES };
    const tally = createTally(plan, progress);
    await sendBatches({
      orders: plan.orders,
      limits,
      journal,
      deliver: webhook ? byWebhook(way, plan.concurrency) : byBatches(way),
      // So that there is always an order that waits for its turn.
      atOnce: webhook ? Math.ceil(plan.concurrency / limits.orders) + 1 : plan.concurrency,
      watcher: tally,
    });
    const sent = tally.sent();
    const { waitMs } = plan;
    const means =
      waitMs === null
        ? null
        : {
            client,
            gate: createGate({ giveUpAfterMs: waitMs, isImpatient: true, signal }, onWait),
            waitMs,
            signal,
          };
    const report = await conclude(journal, plan.failedPath, means, progress);
    if (plan.keepJournal !== 'always') await journal.remove();
    return { ...report, ...sent };
  } catch (error) {
    throw goingOn(fatal(error), plan);
  } finally {
    ending.abort();
    display.close();
    await journal.close();
  }
}

/** Counts what this run reads and sends. */
function createTally({ input }: SendPlan, progress: Progress) {
  const startedAt = performance.now();
  let endedAt = startedAt;
  let [read, before] = [0, 0];
  return {
    read({ orders }: Batch, known: boolean): void {
      read += orders.length;
      if (known) {
        before += orders.length;
        progress.orders += orders.length;
      }
      if (input.size) progress.share = Math.min(1, (input.bytesRead / input.size) * (progress.orders / read || 0));
    },
    answered(results: readonly Result[]): void {
      endedAt = performance.now();
      progress.orders += results.length;
      progress.refused += results.filter((result) => refusalOf(result)).length;
      if (input.size) progress.share = Math.min(1, (input.bytesRead / input.size) * (progress.orders / read));
    },
    sent() {
      const seconds = (endedAt - startedAt) / 1000;
      return { read, sent_before: before, seconds, orders_per_second: seconds > 0 ? (read - before) / seconds : 0 };
    },
  };
}

type Means = Parameters<typeof followUp>[1];

/** What became of all orders of all runs; writes down those that failed. */
async function conclude(
  journal: Journal,
  failedPath: string | null,
  means: Means | null,
  progress: Progress,
): Promise<Omit<Report, 'read' | 'sent_before' | 'seconds' | 'orders_per_second'>> {
  const statuses: Record<Status, number> = {
    written: 0,
    duplicate: 0,
    dead: 0,
    failed: 0,
    pending: 0,
    unknown: 0,
    not_followed: 0,
  };
  const refusedByCode: Record<string, number> = {};
  const failures: FailedOrder[] = [];
  const file = openFailureFile(failedPath);
  const note = (failure: FailedOrder | null) => {
    if (!failure) return;
    file.add(failure);
    if (failures.length < SHOWN_FAILURES) failures.push(failure);
    if (failure.status === 'refused') refusedByCode[failure.code] = (refusedByCode[failure.code] ?? 0) + 1;
  };
  async function* withoutRefusals() {
    for await (const results of journal.results()) {
      for (const result of results) note(refusalOf(result));
      yield results.filter((result) => !refusalOf(result));
    }
  }

  if (means) {
    const followed = { known: 0, accepted: progress.orders - progress.refused };
    progress.followed = followed;
    for await (const outcomes of followUp(withoutRefusals(), means)) {
      followed.known += outcomes.length;
      for (const outcome of outcomes) {
        statuses[statusOf(outcome)] += 1;
        note(failureOf(outcome));
      }
    }
  } else for await (const accepted of withoutRefusals()) statuses.not_followed += accepted.length;
  file.finish();
  const refused = Object.values(refusedByCode).reduce((sum, one) => sum + one, 0);
  const hasFailures = failures.length > 0;
  return { refused, refused_by_code: refusedByCode, statuses, failed_file: hasFailures ? failedPath : null, failures };
}

function statusOf({ status }: Outcome): Status {
  return status === 'received' || status === 'normalized' ? 'pending' : status;
}

/** Another account's key would take as sent what this account never got. */
async function requireSameAccount(journal: Journal, client: OrdersClient, gate: Gate): Promise<void> {
  if (journal.before.length === 0) return;
  for await (const results of journal.results()) {
    const receiptId = results.map(([, , outcome]) => outcome).find((outcome) => typeof outcome === 'string');
    if (receiptId === undefined) continue;
    const found = await gate
      .ask(() => client.getReceipt(receiptId))
      .catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
      });
    if (found) return;
    throw new Failure(
      `The account of this key has not what ${journal.path} says was sent: give the key of that account, another --journal, or --restart.`,
    );
  }
}

/** The error with what to do next, where something is on record that the next run can use. */
function goingOn(error: unknown, plan: SendPlan): unknown {
  if (!(error instanceof Failure) || error.message.includes('--restart')) return error;
  return new Failure(`${error.message} ${howToGoOn(plan)}`);
}

function howToGoOn({ keepJournal, journalPath }: SendPlan): string {
  if (keepJournal === 'never')
    return 'Sending the same again does no harm: what arrived is not stored twice. With --journal it would go on where it stopped.';
  return `The same command goes on where it stopped; what was sent is in ${journalPath}.`;
}
