import { Readable } from 'node:stream';
import { MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import type { CsvFormat } from '@orders/order-files/csv.ts';
import type { TableOptions } from '@orders/order-files/read-table.ts';
import type { XlsxFormat } from '@orders/order-files/read-xlsx.ts';
import { GIVE_UP_AFTER, numberUpTo, span } from '../arguments.ts';
import { argument, type CommandSpec, option } from '../command.ts';
import type { Context } from '../context.ts';
import { Failure, UsageError } from '../errors.ts';
import { readJsonFile, readMappingOf } from '../read-json-file.ts';
import { dryRun, renderDryRun } from '../send/dry-run.ts';
import { createFailedOrders, failedPathOf, requireFailedFile, roundOf } from '../send/failed-orders.ts';
import { FORMATS, type Format, formatOf, type Input, openInput } from '../send/read-input.ts';
import { incompleteReason, printResult, renderReport } from '../send/report.ts';
import { runSend } from '../send/run-send.ts';
import { readSenderConfig, SENDER_ENVIRONMENT_HELP } from '../sender-config.ts';
import { count } from '../table.ts';

const HELP = `\
Formats, by file extension or --format:
  ndjson  one order per line (.ndjson, .jsonl)
  json    an array of orders, or one (.json)
  csv     a row for each order or each item (.csv, .tsv), in UTF-8. A heading is a field (source_order_id, total) or the path to one (customer.phone, items.0.name, items.0.quantity); with
          --map it may be any. An empty cell is absent. All cells are text, except quantities.
  xlsx    the same table on the first sheet, or that of --sheet (.xlsx, .xlsm), of at most 20 MiB and 200,000 rows. A
          number has all its digits, and a date is 2026-01-05. Formulas have the value that was saved.

Rows with one id that follow each other are one order of at most 1,000 rows, if the table has items: each field has its
value from the first row that has one, and the items are those of all rows. Cells of an order that contradict each other
are reported, and the first counts. A row with the id of an order further up is not sent: sort the table by the id.

The exports of orders of Shopify, and for WooCommerce of Advanced Order Export and Customer/Order/Coupon Export (one row
per item), are recognized by their headings and need no --map. Their orders that are cancelled, fulfilled, completed or
refunded, and drafts, are left out and counted.

--map takes a file that says where each field comes from. Of a table, /Mobile is the column with the heading Mobile:
  { "source_order_id": "/Order no.", "customer": { "phone": "/Mobile" }, "items": [{ "name": "/Item 1" }] }
Of JSON, it is a JSON Pointer into each order. Then only what the mapping names is sent. A column that no pointer reads
is an error, unless it is left out with --ignore-column or --ignore-unmapped.

After an interruption run the same command again: it sends what is missing, and no order is stored twice. The key of each
request follows from the orders in it, their position in the file, and the options.

At the end it waits for the outcome of each order, and reports; with --no-wait it ends once each is accepted or
rejected. If outcomes were still open at the end, run the same command again to ask for them.

FILE.failed.ndjson then has the orders that were rejected, are dead, differ from the service's order with their id
(unknown with --no-wait), have the id of an earlier order, or have rows that contradict each other, as they were sent. Correct them there, and send that file,
without --map: a dead order gets a new receipt, and the orders that fail again are in FILE.failed-2.ndjson. The next run
of the same command replaces or removes the file. An order that differs changes nothing by itself: the account sees the
difference, and accepts or rejects it. If it is another order, give it an id of its own.

${SENDER_ENVIRONMENT_HELP}

Exit codes: 0 all orders are written, or existed before with the same content (with --no-wait: are accepted); 1 some are
not, some have the id of an earlier order or rows that contradict each other, or the command failed; 2 usage error; 130 ended by Ctrl-C; 143 ended by
SIGTERM.`;

interface Options {
  format?: Format;
  map?: string;
  delimiter?: string;
  sheet?: string;
  ignoreColumn?: string[];
  ignoreUnmapped?: boolean;
  dryRun?: boolean;
  strict?: boolean;
  url?: string;
  webhook?: boolean;
  concurrency?: number;
  batchSize: number;
  wait: number | false;
  giveUpAfter: number;
  failed?: string;
  json?: boolean;
}

const [MAX_CONCURRENT_BATCHES, MAX_CONCURRENT_WEBHOOKS] = [4, 16];

export const send: CommandSpec = {
  about: 'send the orders of a file, as a sender: needs an API key and no database',
  arguments: [argument('<file>', 'the file to send; - is standard input')],
  options: [
    option('--format <format>', 'of the file, if it has no known extension', FORMATS),
    option('--map <file>', 'says where the fields of an order come from'),
    option(
      '--delimiter <character>',
      "csv: what separates the cells, such as ';' or tab (default: that of a first line sep=;, else a comma; tab for .tsv)",
      delimiterOf,
    ),
    option('--sheet <name>', 'xlsx: the sheet with the table (default: the first one that is not hidden)'),
    option('--ignore-column <heading>', 'csv, xlsx: leave out the column with this heading; may be repeated').argParser(
      append,
    ),
    option('--ignore-unmapped', 'csv, xlsx: leave out all columns that are not used'),
    option('--dry-run', 'send nothing: show what would be rejected and what would be corrected'),
    option('--strict', 'have orders rejected rather than corrected'),
    option('--url <address>', 'the address of the service, instead of ORDERS_URL'),
    option('--webhook', 'send each order separately, as a signed webhook'),
    option(
      '--concurrency <number>',
      `max concurrent requests (default: ${MAX_CONCURRENT_BATCHES}; ${MAX_CONCURRENT_WEBHOOKS} webhooks)`,
      numberUpTo('--concurrency', 256),
    ),
    option(
      '--batch-size <orders>',
      'max orders per request',
      numberUpTo('--batch-size', MAX_BATCH_ORDERS),
      MAX_BATCH_ORDERS,
    ),
    option('--wait <time>', 'how long to wait at the end for the outcome of the orders', span('--wait'), 300_000, '5m'),
    option('--no-wait', 'do not wait: end once each is accepted or rejected'),
    GIVE_UP_AFTER,
    option('--failed <file>', 'the file of failures, a name ending in .failed.ndjson (default: FILE.failed.ndjson)'),
  ],
  help: HELP,
  examples: [
    'orders send orders.ndjson --dry-run',
    'orders send orders.ndjson',
    "orders send till.csv --map till-map.json --delimiter ';'",
    'orders send till.csv.failed.ndjson',
    'zcat orders.ndjson.gz | orders send - --format ndjson --failed orders.failed.ndjson',
  ],
  run: sendFile,
};

async function sendFile(context: Context, file: string, options: Options): Promise<undefined> {
  const { stdin, env, localDirectory } = context.cliContext;
  const { map, webhook = false, strict = false, batchSize, giveUpAfter, wait } = options;
  const isStdin = file === '-';
  const round = isStdin ? 0 : roundOf(file);
  if (round > 0 && map !== undefined)
    throw new UsageError('A file of failures has the orders as they were sent: leave out --map.');
  const format = formatOf(file, options.format);
  if (options.sheet !== undefined && format !== 'xlsx') throw new UsageError('--sheet is only for .xlsx files.');
  const table = await tableOptions(file, options);
  const input = await openInput(file, format, table, stdin ?? Readable.from([]));
  if (options.dryRun) return sendNothing(input, { ...options, mapping: table.mapping }, context);
  const config = await readSenderConfig(env, options.url, localDirectory);
  if (webhook && !config.signingSecret)
    throw new UsageError('--webhook needs ORDERS_SIGNING_SECRET, the signing secret of the account.');
  const path = options.failed ?? (isStdin ? null : failedPathOf(file));
  if (path !== null)
    await requireFailedFile(path, { 'The input': isStdin ? null : file, 'The file of --map': map ?? null });
  const concurrency = options.concurrency ?? (webhook ? MAX_CONCURRENT_WEBHOOKS : MAX_CONCURRENT_BATCHES);
  const plan = { input, way: { strict, webhook, round }, batchSize, concurrency, giveUpAfter, wait, failedPath: path };
  const orders = createFailedOrders(path);
  try {
    const report = await runSend(plan, config, context.cliContext, orders);
    const { failed, differs } = orders.counts;
    await printResult(context, options, { orders, path }, report, () => renderReport(report, differs));
    const left = incompleteReason(report, failed);
    if (left !== null) throw new Failure(left);
  } finally {
    orders.close();
  }
  return undefined;
}

/** Checks the orders, and writes no file. */
async function sendNothing(
  input: Input,
  options: Options & Pick<TableOptions, 'mapping'>,
  context: Context,
): Promise<undefined> {
  const orders = createFailedOrders(null);
  try {
    const result = await dryRun(input, options, orders);
    await printResult(context, options, { orders, path: null }, result, () => renderDryRun(result));
    const { read, rejected, repeated } = result;
    if (rejected > 0) throw new Failure(`${count(rejected)} of ${count(read)} would be rejected.`);
    if (repeated > 0) throw new Failure('Some orders have the id of another one.');
    if (orders.counts.contradicts > 0) throw new Failure('Some orders have rows that contradict each other.');
  } finally {
    orders.close();
  }
  return undefined;
}

async function tableOptions(
  file: string,
  { map, delimiter, sheet, ignoreColumn = [], ignoreUnmapped = false }: Options,
): Promise<CsvFormat & XlsxFormat & TableOptions> {
  const mapping = map === undefined ? null : readMappingOf('--map', await readJsonFile(map, '--map'));
  return { mapping, delimiter, sheet, isTabs: file.endsWith('.tsv'), ignored: ignoreColumn, ignoreUnmapped };
}

function append(text: string, earlier: string[] = []): string[] {
  return [...earlier, text.trim()];
}

function delimiterOf(text: string): string {
  const delimiter = text === 'tab' || text === '\\t' ? '\t' : text;
  if (delimiter.length === 1 && delimiter !== '"' && delimiter !== '\n') return delimiter;
  throw new UsageError("--delimiter takes one character, such as ';', or the word tab.");
}
