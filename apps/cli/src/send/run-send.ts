import { NotFoundError, OrdersClient } from '@orders/client';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import type { SenderConfig } from '../sender-config.ts';
import { visibleInLine } from '../visible.ts';
import type { Batch, BatchLimits } from './cut-batches.ts';
import { byBatches, byWebhook } from './deliver.ts';
import { type FailedOrder, type FailureFile, ofAccepted, ofRefused, openFailureFile } from './failures.ts';
import { followUp, type Outcome } from './follow-up.ts';
import { createGate, endOfRun, type Gate } from './gate.ts';
import { ChangedInput, type Journal, openJournal } from './journal.ts';
import type { Result } from './journal-entries.ts';
import { type Progress, showProgress } from './progress.ts';
import type { Input } from './read-input.ts';
import type { Report, Status } from './report.ts';
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
const SHOWN_FAILURES = 5;
/** The client gives a third of it to an attempt, and there is one. */
const TIMEOUT_MS = 90_000;

/** Sends the orders of an input, waits for what becomes of them, and reports. What was sent by an earlier run is not sent again. */
export async function runSend(plan: SendPlan, config: SenderConfig, { surroundings }: Context): Promise<Report> {
  const { input, webhook, strict } = plan;
  const failures = await openFailureFile(plan.failedPath);
  const head = { size: input.size, url: config.url, way: webhook ? 'webhook' : 'batches', strict } as const;
  const journal = await openJournal(plan.journalPath, head, plan.restart);
  surroundings.onInterrupt?.(() => {
    plan.cleanUp();
    return `\n${visibleInLine(howToGoOn(plan))}\n`;
  });
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

    const way = { client, gate, strict, signal };
    const limits: BatchLimits = webhook
      ? { orders: Math.min(plan.batchSize, WEBHOOKS_ON_RECORD), bytes: BATCH_BYTES }
      : { orders: plan.batchSize, bytes: BATCH_BYTES };
    const deliver = webhook ? byWebhook(way, plan.concurrency) : byBatches(way);
    // So that there is always an order that waits for its turn.
    const atOnce = webhook ? Math.ceil(plan.concurrency / limits.orders) + 1 : plan.concurrency;
    const sendAll = async () => {
      const tally = createTally(plan, progress);
      const { dead } = plan;
      await sendBatches({ orders: plan.orders(), dead, limits, journal, deliver, atOnce, watcher: tally });
      return tally.sent();
    };
    const sent = await sendAll().catch((error) => {
      // Standard input is gone once it was read.
      if (!(error instanceof ChangedInput) || !journal.isSettled() || input.size === null) throw error;
      journal.beginAnew();
      return sendAll();
    });
    const { waitMs } = plan;
    const means =
      waitMs === null ? null : { client, gate: createGate({ giveUpAfterMs: waitMs, signal }, onWait), waitMs, signal };
    const { hasOpen, ...result } = await conclude(journal, failures, means, progress, input.count);
    if (plan.keepJournal === 'until known' && hasOpen) failures.discard();
    else {
      if (plan.keepJournal !== 'always') await journal.remove();
      // After the journal that names what it held before.
      await failures.finish();
    }
    return { ...result, ...sent, failed_file: result.failures.length > 0 ? plan.failedPath : null };
  } catch (error) {
    failures.discard();
    throw journal.isEmpty() ? endOfRun(error) : goingOn(endOfRun(error), plan);
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
  let [read, before, repeated] = [0, 0, 0];
  const ids = new Set<string>();
  progress.orders = 0;
  const tellShare = () => {
    if (input.size) progress.share = Math.min(1, (input.bytesRead / input.size) * (progress.orders / read || 0));
  };
  return {
    read({ orders }: Batch, known: boolean): void {
      read += orders.length;
      for (const { sourceOrderId: id } of orders) {
        if (id === null) continue;
        if (ids.has(id)) repeated += 1;
        ids.add(id);
      }
      if (known) {
        before += orders.length;
        progress.orders += orders.length;
      }
      tellShare();
    },
    answered(results: readonly Result[]): void {
      endedAt = performance.now();
      progress.orders += results.length;
      progress.refused += results.filter((result) => ofRefused(result)).length;
      tellShare();
    },
    sent() {
      const seconds = (endedAt - startedAt) / 1000;
      return {
        read,
        repeated,
        sent_before: before,
        seconds,
        orders_per_second: seconds > 0 ? (read - before) / seconds : 0,
      };
    },
  };
}

type Means = Parameters<typeof followUp>[1];

/** What became of all orders of all runs, and whether anything of it is still open; writes down those that failed. */
async function conclude(journal: Journal, file: FailureFile, means: Means | null, progress: Progress, of: number) {
  const statuses: Record<Status, number> = {
    written: 0,
    duplicate: 0,
    dead: 0,
    failed: 0,
    pending: 0,
    unknown: 0,
    not_followed: 0,
  };
  // Codes are whatever the service says, such as `constructor`.
  const refusedByCode = new Map<string, number>();
  let refused = 0;
  const failures: FailedOrder[] = [];
  const note = (failure: FailedOrder | null) => {
    if (!failure) return;
    file.add({ ...failure, of });
    if (failures.length < SHOWN_FAILURES) failures.push(failure);
    if (failure.status !== 'refused') return;
    refused += 1;
    refusedByCode.set(failure.code, (refusedByCode.get(failure.code) ?? 0) + 1);
  };
  async function* withoutRefusals() {
    for await (const results of journal.results()) {
      for (const result of results) note(ofRefused(result));
      yield results.filter((result) => !ofRefused(result));
    }
  }

  if (means) {
    const followed = { known: 0, accepted: progress.orders - progress.refused };
    progress.followed = followed;
    for await (const outcomes of followUp(withoutRefusals(), means)) {
      followed.known += outcomes.length;
      for (const outcome of outcomes) {
        statuses[statusOf(outcome)] += 1;
        note(ofAccepted(outcome));
      }
    }
  } else for await (const accepted of withoutRefusals()) statuses.not_followed += accepted.length;
  const hasOpen = statuses.pending + statuses.failed > 0;
  return { refused, refused_by_code: Object.fromEntries(refusedByCode), statuses, failures, hasOpen };
}

function statusOf({ status }: Outcome): Status {
  return status === 'received' || status === 'normalized' || status === 'not_asked' ? 'pending' : status;
}

/** Another account's key would take as sent what this account never got. */
async function requireSameAccount(journal: Journal, client: OrdersClient, gate: Gate): Promise<void> {
  if (journal.before().length === 0) return;
  for await (const results of journal.results()) {
    const receiptId = results.map(([, , , outcome]) => outcome).find((outcome) => typeof outcome === 'string');
    if (receiptId === undefined) continue;
    const found = await gate
      .ask(() => client.getReceipt(receiptId))
      .catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
      });
    if (found) return;
    throw new Failure(
      `The account of this key does not have what ${journal.path} says was sent: give the key of that account, another --journal, or --restart.`,
    );
  }
}

/** The error with what to do next, as something is on record that the next run can use. */
function goingOn(error: unknown, plan: SendPlan): unknown {
  if (!(error instanceof Failure) || error.message.includes('--restart')) return error;
  return new Failure(`${error.message} ${howToGoOn(plan)}`);
}

function howToGoOn({ keepJournal, journalPath }: SendPlan): string {
  if (keepJournal === 'never')
    return 'Sending the same again does no harm: what arrived is not stored twice. With --journal it would go on where it stopped.';
  return `The same command goes on where it stopped; what was sent is in ${journalPath}.`;
}
