import { OrdersClient } from '@orders/client';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { escapeControlsInLine } from '../escape-controls.ts';
import type { SenderConfig } from '../sender-config.ts';
import { deliverAsWebhooks, deliverInBatches, type SendDependencies } from './deliver.ts';
import { type FailureFile, openFailureFile } from './failures.ts';
import { finishRun } from './finish-run.ts';
import { InputChangedError, type Journal, openJournal } from './journal.ts';
import { createProgress, type Progress, showProgress } from './progress.ts';
import type { Input } from './read-input.ts';
import type { Report } from './report.ts';
import { requireSameAccount } from './require-same-account.ts';
import { createRetryGate, endOfRun } from './retry-gate.ts';
import { createRunStats } from './run-stats.ts';
import { sendBatches } from './send-batches.ts';
import type { SourceOrder } from './source-order.ts';

/** How an input is sent. */
export interface SendPlan {
  input: Input;
  /** Of all orders of the input, those that are to be sent. */
  orders(): AsyncIterable<SourceOrder>;
  /** Receipts that are not to be replayed, by the places of their orders. */
  dead: ReadonlyMap<number, string>;
  journalPath: string;
  /** For how long the journal is of use: to a later run of the same, until all is known, or to this run alone. */
  keepJournal: 'always' | 'until known' | 'never';
  failedPath: string | null;
  restart: boolean;
  webhook: boolean;
  strict: boolean;
  batchSize: number;
  concurrency: number;
  giveUpAfterMs: number;
  /** Null not to ask what became of the orders. */
  waitMs: number | null;
  /** Removes what is of use to this run alone, also when the run is ended in the middle. */
  cleanUp(): void;
}

/** With its line break it stays below the megabyte that many proxies let through. */
const BATCH_BYTES = 1_000_000;
/** Webhooks go one by one; what is on record together is sent again together. */
const WEBHOOKS_ON_RECORD = 100;
/** The client gives a third of it to an attempt, and there is one. */
const TIMEOUT_MS = 90_000;

/** Sends the orders of an input, waits for what becomes of them, and reports. What was sent by an earlier run is not sent again. */
export async function runSend(plan: SendPlan, config: SenderConfig, { cliContext }: Context): Promise<Report> {
  const { input, strict, waitMs } = plan;
  const failures = await openFailureFile(plan.failedPath);
  const head = { size: input.size, url: config.url, way: plan.webhook ? 'webhook' : 'batches', strict } as const;
  const journal = await openJournal(plan.journalPath, head, plan.restart);
  cliContext.onInterrupt?.(() => {
    plan.cleanUp();
    return `\n${escapeControlsInLine(nextStep(plan))}\n`;
  });
  const progress = createProgress();
  const display = showProgress(progress, cliContext.stderr);
  const ending = new AbortController();
  const { signal } = ending;
  const createGate = (giveUpAfterMs: number) =>
    createRetryGate({ giveUpAfterMs, signal }, (wait) => {
      progress.wait = wait && { until: performance.now() + wait.ms, why: wait.why };
    });
  try {
    const { url: baseUrl, apiKey, signingSecret } = config;
    const client = new OrdersClient({ baseUrl, apiKey, signingSecret, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
    const gate = createGate(plan.giveUpAfterMs);
    await requireSameAccount(journal, client, gate);
    const sent = await sendAll(plan, { client, gate, strict, signal }, journal, progress);
    const dependencies = waitMs === null ? null : { client, gate: createGate(waitMs), waitMs, signal };
    const { duplicates, ...counts } = sent;
    const { hasOpen, ...result } = await finishRun(journal, failures, dependencies, progress, {
      count: input.count,
      duplicates,
    });
    await finishFiles(journal, failures, plan.keepJournal, hasOpen);
    const failed_file = result.listed > 0 ? plan.failedPath : null;
    return { ...result, ...counts, repeated: duplicates.size, failed_file };
  } catch (error) {
    failures.discard();
    throw journal.isEmpty() ? endOfRun(error) : withNextStep(endOfRun(error), plan);
  } finally {
    ending.abort();
    display.close();
    await journal.close();
  }
}

/** Sends what no earlier run has sent; where the journal is of an input that is done with, all of it. */
async function sendAll(plan: SendPlan, dependencies: SendDependencies, journal: Journal, progress: Progress) {
  const { input, dead, webhook, concurrency } = plan;
  const most = webhook ? Math.min(plan.batchSize, WEBHOOKS_ON_RECORD) : plan.batchSize;
  const limits = { orders: most, bytes: BATCH_BYTES };
  const deliver = webhook ? deliverAsWebhooks(dependencies, concurrency) : deliverInBatches(dependencies);
  // So that there is always an order that waits for its turn.
  const maxConcurrent = webhook ? Math.ceil(concurrency / most) + 1 : concurrency;
  const send = async () => {
    const stats = createRunStats(input, progress);
    await sendBatches({ orders: plan.orders(), dead, limits, journal, deliver, maxConcurrent, observer: stats });
    return stats.sent();
  };
  return send().catch((error) => {
    // Standard input is gone once it was read.
    if (!(error instanceof InputChangedError) || !journal.isSettled() || input.size === null) throw error;
    journal.reset();
    return send();
  });
}

/** Leaves of the journal and the failures what a later run needs, and nothing else. */
async function finishFiles(
  journal: Journal,
  failures: FailureFile,
  keepJournal: SendPlan['keepJournal'],
  hasOpen: boolean,
): Promise<void> {
  if (keepJournal === 'until known' && hasOpen) return failures.discard();
  if (keepJournal !== 'always') await journal.remove();
  // After the journal that names what it held before.
  await failures.finish();
}

/** The error with what to do next, as something is on record that the next run can use. */
function withNextStep(error: unknown, plan: SendPlan): unknown {
  if (!(error instanceof Failure) || error.includesNextStep) return error;
  return new Failure(`${error.message} ${nextStep(plan)}`);
}

function nextStep({ keepJournal, journalPath }: SendPlan): string {
  if (keepJournal === 'never')
    return 'Sending the same again does no harm: what arrived is not stored twice. With --journal it would go on where it stopped.';
  return `The same command goes on where it stopped; what was sent is in ${journalPath}.`;
}
