import { Readable } from 'node:stream';
import { type Cancellation, type CancelResult, OrdersClient } from '@orders/client';
import { readCancellations as validate } from '@orders/domain/cancellations.ts';
import { MAX_CANCEL_BYTES, MAX_CANCELLATIONS } from '@orders/domain/interface-limits.ts';
import { Problem } from '@orders/domain/problems.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { GIVE_UP_AFTER } from '../arguments.ts';
import { argument, type CommandSpec, option } from '../command.ts';
import type { Context } from '../context.ts';
import { Failure, UsageError } from '../errors.ts';
import { nameOfInput, readFileOrStdin } from '../read-json-file.ts';
import { createRetryGate, endOfRun } from '../retry-gate.ts';
import { readSenderConfig, SENDER_ENVIRONMENT_HELP, type SenderConfig } from '../sender-config.ts';
import { count, plural, table } from '../table.ts';

/** How to send the cancellations. */
interface CancelOptions {
  webhook?: boolean;
  /** In milliseconds. */
  giveUpAfter: number;
}

/** The outcomes of all cancellations, or of those that were sent before an error. */
interface CancelRun {
  results: CancelResult[];
  /** Why it ended early; null if all have an outcome. */
  error: unknown;
}

const TIMEOUT_MS = 30_000;
/** Leaves room for the JSON around the list. */
const LIMITS = { size: MAX_CANCEL_BYTES - 100, count: MAX_CANCELLATIONS };

/** Sends cancellations, as many in a request as the service takes, one request after the other. */
async function runCancel(
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

const HELP = `\
Outcomes:
  cancelled  the order will not be dispatched, unless a reviewer reopens it
  requested  the order may be dispatched already: a person decides
  held       the order has not arrived: it is cancelled when it does

More than 1,000 ids are sent in several requests. The same command is safe to repeat.

${SENDER_ENVIRONMENT_HELP}

Exit codes: 0 all orders are cancelled or held; 1 some are not: a person decides, or they are archived; or the command failed;
2 usage error; 130 ended by Ctrl-C; 143 ended by SIGTERM.`;

interface Options extends CancelOptions {
  reason?: string;
  file?: string;
  url?: string;
  json?: boolean;
}

const WORDS: Record<CancelResult['outcome'], string> = {
  cancelled: 'cancelled',
  requested: 'requested: may be dispatched already, a person decides',
  held: 'held: has not arrived, will be cancelled when it does',
  archived: 'archived: too old, nothing happened',
};

export const cancel: CommandSpec = {
  about: 'cancel orders, as a sender: needs an API key and no database',
  arguments: [argument('[source-order-id...]', 'your own ids of the orders')],
  options: [
    option('--file <file>', 'a file with one id per line; - is standard input'),
    option('--reason <text>', 'why, for the people who review orders'),
    option('--url <address>', 'the address of the service, instead of ORDERS_URL'),
    option('--webhook', 'sign the requests, as webhooks'),
    GIVE_UP_AFTER,
  ],
  help: HELP,
  examples: [
    "orders cancel SHOP-10001 --reason 'The customer called'",
    "orders cancel --file sold-out.txt --reason 'Sold out' --json",
    'cut -d, -f1 refunds.csv | orders cancel --file -',
  ],
  async run(context, ids: string[], options: Options) {
    const { stdin, env, localDirectory } = context.cliContext;
    const { file, reason } = options;
    const cancellations = await readCancellations({ ids, file, reason }, stdin ?? Readable.from([]));
    const config = await readSenderConfig(env, options.url, localDirectory);
    if (options.webhook && !config.signingSecret)
      throw new UsageError('--webhook needs ORDERS_SIGNING_SECRET, the signing secret of the account.');
    const { results, error } = await runCancel(cancellations, options, config, context);
    const report = reportOf(results, cancellations.length);
    if (results.length > 0) context.print(options, report, tabulate(results));
    if (error !== null) throw results.length > 0 ? withProgress(error, report) : error;
    if (report.requested > 0)
      throw new Failure(
        `${count(report.requested)} of ${count(report.read)} may be dispatched already: a person decides. If it is urgent, use the telephone.`,
      );
    if (report.archived > 0) throw new Failure(`${count(report.archived)} of ${count(report.read)} are archived.`);
    return undefined;
  },
};

function reportOf(results: readonly CancelResult[], read: number) {
  const counts = { cancelled: 0, requested: 0, held: 0, archived: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  return { read, ...counts, results };
}

function tabulate(results: readonly CancelResult[]): string {
  return table(results, [
    { head: 'SOURCE ORDER', cell: ({ source_order_id }) => source_order_id },
    { head: 'ORDER', cell: ({ order_id }) => order_id, right: true },
    { head: 'OUTCOME', cell: ({ outcome }) => WORDS[outcome] ?? outcome },
  ]);
}

function withProgress(error: unknown, { read, results }: ReturnType<typeof reportOf>): unknown {
  if (!(error instanceof Failure)) return error;
  const progress = `${count(results.length)} of ${plural(read, 'order')} done; the same command is safe to repeat.`;
  return new Failure(`${error.message} ${progress}`);
}

/** What to cancel, as given by the arguments. */
interface Given {
  ids: readonly string[];
  /** A file with one id a line; `-` is standard input. */
  file?: string | undefined;
  reason?: string | undefined;
}

/**
 * Reads and checks all cancellations before the first is sent. Empty lines of the file are skipped.
 *
 * @throws {UsageError | Failure} for an invalid argument, or an unreadable or invalid file. No message repeats an id.
 */
async function readCancellations({ ids, file, reason }: Given, stdin: AsyncIterable<Buffer>): Promise<Cancellation[]> {
  const wrongReason = errorOf({ source_order_id: 'any', reason });
  if (wrongReason !== null) throw new UsageError(`--${wrongReason}`);
  const cancellations = [...ids].map((id) => cancellationOf(id, reason));
  for (const [index, cancellation] of cancellations.entries()) {
    const wrong = errorOf(cancellation);
    if (wrong !== null) throw new UsageError(`Argument ${index + 1}: ${wrong}`);
  }
  if (file !== undefined) cancellations.push(...(await readLines(file, reason, stdin)));
  if (cancellations.length === 0) throw new UsageError('Give the source_order_id of an order, or --file with some.');
  return cancellations;
}

async function readLines(file: string, reason: string | undefined, stdin: AsyncIterable<Buffer>) {
  const name = nameOfInput(file);
  return textOf(await readFileOrStdin(file, stdin), name)
    .split(/\r?\n/)
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const cancellation = cancellationOf(line, reason);
      const wrong = errorOf(cancellation);
      if (wrong !== null) throw new Failure(`${name}: line ${index + 1}: ${wrong}`);
      return [cancellation];
    });
}

/** Removes a byte order mark. */
function textOf(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure(`${name}: it is not UTF-8; save it as UTF-8.`);
  }
}

function cancellationOf(source_order_id: string, reason: string | undefined): Cancellation {
  return { source_order_id, ...(reason !== undefined && { reason }) };
}

/** The first broken rule, by the service's own check. */
function errorOf(cancellation: Cancellation): string | null {
  try {
    validate({ ...cancellation });
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.errors?.[0]?.detail ?? error.detail;
    throw error;
  }
}
