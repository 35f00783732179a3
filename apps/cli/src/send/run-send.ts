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

/** What to send and how. */
export interface SendPlan {
  input: Input;
  /** The orders of the input that are to be sent. */
  orders(): AsyncIterable<SourceOrder>;
  /** Receipts that must not be replayed, by the position of their order. */
  dead: ReadonlyMap<number, string>;
  journalPath: string;
  /** Whether the journal is kept: for later runs, until all outcomes are known, or only during this run. */
  keepJournal: 'always' | 'until known' | 'never';
  failedPath: string | null;
  restart: boolean;
  webhook: boolean;
  strict: boolean;
  batchSize: number;
  concurrency: number;
  giveUpAfterMs: number;
  /** Null to not wait for outcomes. */
  waitMs: number | null;
  /** Removes temporary files, also after an interrupt. */
  cleanUp(): void;
}

/** Below the 1 MB body limit of many proxies. */
const BATCH_BYTES = 1_000_000;
/** Max webhooks per journal entry, as all of an interrupted entry are sent again. */
const WEBHOOKS_ON_RECORD = 100;
/** The client gives a third of this to each attempt; without retries there is one. */
const TIMEOUT_MS = 90_000;

/** Sends the orders of an input, waits for their outcomes and reports. Orders that an earlier run sent are not sent again. */
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

/** Sends the orders that no earlier run sent; all of them if the journal belongs to another, completed input. */
async function sendAll(plan: SendPlan, dependencies: SendDependencies, journal: Journal, progress: Progress) {
  const { input, dead, webhook, concurrency } = plan;
  const most = webhook ? Math.min(plan.batchSize, WEBHOOKS_ON_RECORD) : plan.batchSize;
  const limits = { orders: most, bytes: BATCH_BYTES };
  const deliver = webhook ? deliverAsWebhooks(dependencies, concurrency) : deliverInBatches(dependencies);
  // One batch more than needed, so that the webhook limit is always used up.
  const maxConcurrent = webhook ? Math.ceil(concurrency / most) + 1 : concurrency;
  const send = async () => {
    const stats = createRunStats(input, progress);
    await sendBatches({ orders: plan.orders(), dead, limits, journal, deliver, maxConcurrent, observer: stats });
    return stats.sent();
  };
  return send().catch((error) => {
    // Standard input cannot be read twice.
    if (!(error instanceof InputChangedError) || !journal.isSettled() || input.size === null) throw error;
    journal.reset();
    return send();
  });
}

/** Keeps only what a later run needs of the journal and the failures. */
async function finishFiles(
  journal: Journal,
  failures: FailureFile,
  keepJournal: SendPlan['keepJournal'],
  hasOpen: boolean,
): Promise<void> {
  if (keepJournal === 'until known' && hasOpen) return failures.discard();
  if (keepJournal !== 'always') await journal.remove();
  // After the journal, which refers to the previous failures.
  await failures.finish();
}

/** Adds what to do next, as the journal has something that the next run can use. */
function withNextStep(error: unknown, plan: SendPlan): unknown {
  if (!(error instanceof Failure) || error.includesNextStep) return error;
  return new Failure(`${error.message} ${nextStep(plan)}`);
}

function nextStep({ keepJournal, journalPath }: SendPlan): string {
  if (keepJournal === 'never')
    return 'Sending the same input again is safe: no order is stored twice. With --journal it would resume where it stopped.';
  return `The same command resumes where it stopped; what was sent is in ${journalPath}.`;
}
