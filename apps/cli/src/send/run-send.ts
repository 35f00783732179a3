import { NotFoundError, OrdersClient } from '@orders/client';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { escapeControlsInLine } from '../sanitize.ts';
import type { SenderConfig } from '../sender-config.ts';
import { cutBatches } from './cut-batches.ts';
import { deliverAsWebhooks, deliverInBatches } from './deliver.ts';
import { openFailureFile } from './failures.ts';
import { finishRun } from './finish-run.ts';
import { InputChangedError, type Journal, openJournal } from './journal.ts';
import { type Progress, showProgress } from './progress.ts';
import type { Input } from './read-input.ts';
import type { Report } from './report.ts';
import { createRetryGate, endOfRun, type Session } from './retry-gate.ts';
import { sendBatches } from './send-batches.ts';
import type { SourceOrder } from './source-order.ts';

/** The options of the command that say how to send. */
export interface SendOptions {
  restart?: boolean;
  webhook?: boolean;
  strict?: boolean;
  batchSize: number;
  giveUpAfter: number;
  /** False to not wait for outcomes. */
  wait: number | false;
}

/** What to send and how. */
export interface SendPlan {
  options: SendOptions;
  input: Input;
  /** The orders of the input that are to be sent. */
  orders(): AsyncIterable<SourceOrder>;
  /** Receipts that must not be replayed, by the position of their order. */
  dead: ReadonlyMap<number, string>;
  journalPath: string;
  /** Whether the journal is kept: for later runs, until all outcomes are known, or only during this run. */
  keepJournal: 'always' | 'until known' | 'never';
  failedPath: string | null;
  concurrency: number;
  /** Removes temporary files, also after an interrupt. */
  cleanUp(): void;
}

/** Below the 1 MB body limit of many proxies. */
const BATCH_BYTES = 1_000_000;
/** Max webhooks per journal entry, as all of an interrupted entry are sent again. */
const WEBHOOKS_ON_RECORD = 100;
const TIMEOUT_MS = 30_000;

/** Sends the orders of an input, waits for their outcomes and reports. Orders that an earlier run sent are not sent again. */
export async function runSend(plan: SendPlan, config: SenderConfig, { cliContext }: Context): Promise<Report> {
  const { input, options, failedPath, keepJournal } = plan;
  const { webhook, strict = false, wait } = options;
  const { url, apiKey, signingSecret } = config;
  const failures = await openFailureFile(failedPath);
  const head = { size: input.size, url, way: webhook ? 'webhook' : 'batches', strict } as const;
  const journal = await openJournal(plan.journalPath, head, options.restart === true);
  cliContext.onInterrupt?.(() => {
    plan.cleanUp();
    return `\n${escapeControlsInLine(nextStep(plan))}\n`;
  });
  const progress = showProgress(input, cliContext.stderr);
  const ending = new AbortController();
  const { signal } = ending;
  const sessionOf = (giveUpAfterMs: number): Session => ({
    client: new OrdersClient({ baseUrl: url, apiKey, signingSecret, timeoutMs: TIMEOUT_MS, maxRetries: 0 }),
    gate: createRetryGate({ giveUpAfterMs, signal }, progress.wait),
    signal,
  });
  try {
    const session = sessionOf(options.giveUpAfter);
    await requireSameAccount(journal, session);
    await sendAll(plan, session, journal, progress);
    const waiting = wait === false ? null : { session: sessionOf(wait), waitMs: wait };
    const { hasOpen, ...result } = await finishRun(journal, failures, waiting, progress, input.count);
    if (keepJournal === 'until known' && hasOpen) failures.discard();
    else {
      if (keepJournal !== 'always') await journal.remove();
      // After the journal, which refers to the previous failures.
      await failures.finish();
    }
    return { ...result, ...progress.counts(), failed_file: result.listed > 0 ? failedPath : null };
  } catch (error) {
    failures.discard();
    throw journal.isEmpty() ? endOfRun(error) : withNextStep(endOfRun(error), plan);
  } finally {
    ending.abort();
    progress.close();
    await journal.close();
  }
}

/**
 * Ensures that the journal belongs to this account: with another account's journal, orders would count as sent that this account never
 * received.
 *
 * @throws {Failure}
 */
async function requireSameAccount(journal: Journal, { client, gate }: Session): Promise<void> {
  if (journal.previousBatches().length === 0) return;
  for await (const results of journal.results()) {
    const receiptId = results.map(([, , , outcome]) => outcome).find((outcome) => typeof outcome === 'string');
    if (receiptId === undefined) continue;
    try {
      await gate.run(() => client.getReceipt(receiptId));
      return;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      throw new Failure(
        `The account of this key does not have what ${journal.path} says was sent: give the key of that account, another --journal, or --restart.`,
        { includesNextStep: true },
      );
    }
  }
}

/** Sends the orders that no earlier run sent; all of them if the journal belongs to another, completed input. */
async function sendAll(plan: SendPlan, session: Session, journal: Journal, progress: Progress): Promise<void> {
  const { input, dead, concurrency } = plan;
  const { webhook, strict = false, batchSize } = plan.options;
  const most = webhook ? Math.min(batchSize, WEBHOOKS_ON_RECORD) : batchSize;
  const limits = { orders: most, bytes: BATCH_BYTES };
  const deliver = webhook ? deliverAsWebhooks(session, strict, concurrency) : deliverInBatches(session, strict);
  // One batch more than needed, so that the webhook limit is always used up.
  const maxConcurrent = webhook ? Math.ceil(concurrency / most) + 1 : concurrency;
  const send = () => {
    progress.start();
    const batches = cutBatches(plan.orders(), limits, journal.previousBatches(), dead);
    return sendBatches(batches, deliver, maxConcurrent, { journal, progress });
  };
  return send().catch((error) => {
    // Standard input cannot be read twice.
    if (!(error instanceof InputChangedError) || !journal.isSettled() || input.size === null) throw error;
    journal.reset();
    return send();
  });
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
