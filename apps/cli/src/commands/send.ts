import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import { type Command, Option } from 'commander';
import { giveUpAfter, json, numberUpTo, span } from '../arguments.ts';
import type { Context } from '../context.ts';
import { Failure, UsageError } from '../errors.ts';
import { readJsonFile, readMappingOf } from '../read-json-file.ts';
import { dryRun } from '../send/dry-run.ts';
import { openFailureFile, readFailures, type StoredFailure, temporaryPathOf } from '../send/failures.ts';
import { MISMATCH } from '../send/journal-entries.ts';
import { onlyFailed } from '../send/only-failed.ts';
import { requireDistinctFiles } from '../send/own-files.ts';
import type { CsvOptions } from '../send/read-csv.ts';
import { FORMATS, type Format, formatOf, openInput } from '../send/read-input.ts';
import { renderDryRun } from '../send/render-dry-run.ts';
import { incompleteReason, renderReport } from '../send/report.ts';
import { runSend, type SendOptions, type SendPlan } from '../send/run-send.ts';
import type { SourceOrder } from '../send/source-order.ts';
import { readSenderConfig, SENDER_ENVIRONMENT_HELP } from '../sender-config.ts';
import { count } from '../table.ts';

const HELP = `
Formats, by file extension or --format:
  ndjson  one order per line (.ndjson, .jsonl)
  json    an array of orders, or one (.json)
  csv     one order per row (.csv, .tsv), in UTF-8; save a spreadsheet as "CSV UTF-8". A heading is a field
          (source_order_id, total) or the path to one (customer.phone, items.0.name, items.0.quantity); with --map it
          may be any. An empty cell is absent. All cells are text, except quantities.

--map takes a file that says where each field comes from. Of a table, /Mobile is the column with the heading Mobile:
  { "source_order_id": "/Order no.", "customer": { "phone": "/Mobile" }, "items": [{ "name": "/Item 1" }] }
Of JSON, it is a JSON Pointer into each order. Then only what the mapping names is sent. A column that no pointer reads
is an error, unless it is left out with --ignore-column or --ignore-unmapped.

FILE.orders-send.jsonl records what was sent (only ids, no other data of an order). After an interruption the same
command resumes where it stopped, and no order is stored twice. Once the whole input has been answered, another input
may have the same name: it is sent as a new one. --restart starts again from the beginning; no order is stored twice
then either, but orders that were stored before may end as duplicate.

At the end it waits for the outcome of each order, and reports; with --no-wait it ends once each is accepted or
refused. FILE.failed.jsonl lists, with position and reason, the orders that were refused, are dead, differ from the
service's order with their id (unknown with --no-wait), or have the id of an earlier order. Correct them in FILE without
adding or removing orders, then send them with --only-failed. A dead order gets a new receipt then, and also with
--restart. If outcomes were still open at the end, run the same command again to ask for them. An order that differs
changes nothing by itself: the account sees the difference, and accepts or refuses it. If it is another order, give it
an id of its own.

--dry-run lists the orders that would be refused or have the id of an earlier order in FILE.dry-run.jsonl.

${SENDER_ENVIRONMENT_HELP}

Exit codes: 0 all orders are written, or existed before with the same content (with --no-wait: are accepted); 1 some are
not, some have the id of an earlier order, or the command failed; 2 usage error; 130 ended by Ctrl-C; 143 ended by
SIGTERM.

Examples:
  $ orders send orders.ndjson --dry-run
  $ orders send orders.ndjson
  $ orders send till.csv --map till-map.json --delimiter ';'
  $ orders send till.csv --map till-map.json --delimiter ';' --only-failed
  $ zcat orders.ndjson.gz | orders send - --format ndjson --journal orders.journal`;

interface Options extends SendOptions {
  format?: Format;
  map?: string;
  delimiter?: string;
  ignoreColumn?: string[];
  ignoreUnmapped?: boolean;
  url?: string;
  dryRun?: boolean;
  concurrency?: number;
  journal?: string;
  failed?: string;
  onlyFailed?: boolean;
  json?: boolean;
}

const [MAX_CONCURRENT_BATCHES, MAX_CONCURRENT_WEBHOOKS] = [4, 16];

/** `orders send`. */
export function addSendCommand(program: Command, context: Context): void {
  program
    .command('send')
    .description('send the orders of a file, as a sender: needs an API key and no database')
    .argument('<file>', 'the file to send; - is standard input')
    .addOption(new Option('--format <format>', 'of the file, if it has no known extension').choices(FORMATS))
    .option('--map <file>', 'says where the fields of an order come from')
    .option(
      '--delimiter <character>',
      "csv: what separates the cells, such as ';' or tab (default: that of a first line sep=;, else a comma; tab for .tsv)",
    )
    .option('--ignore-column <heading>', 'csv: leave out the column with this heading; may be repeated', append)
    .option('--ignore-unmapped', 'csv: leave out all columns that are not used')
    .option('--dry-run', 'send nothing: show what would be refused and what would be corrected')
    .option('--strict', 'have orders refused rather than corrected')
    .option('--url <address>', 'the address of the service, instead of ORDERS_URL')
    .option('--webhook', 'send each order separately, as a signed webhook')
    .option(
      '--concurrency <number>',
      `max concurrent requests (default: ${MAX_CONCURRENT_BATCHES}; ${MAX_CONCURRENT_WEBHOOKS} webhooks)`,
      numberUpTo('--concurrency', 256),
    )
    .option(
      '--batch-size <orders>',
      'max orders per request',
      numberUpTo('--batch-size', MAX_BATCH_ORDERS),
      MAX_BATCH_ORDERS,
    )
    .addOption(
      new Option('--wait <time>', 'how long to wait at the end for the outcome of the orders')
        .argParser(span('--wait'))
        .default(300_000, '5m'),
    )
    .option('--no-wait', 'do not wait: end once each is accepted or refused')
    .addOption(giveUpAfter())
    .option('--journal <file>', 'the record of what was sent (default: FILE.orders-send.jsonl)')
    .option('--restart', 'start again, ignoring the journal')
    .option('--failed <file>', 'the file of failures (default: FILE.failed.jsonl)')
    .option('--only-failed', 'send only the orders in the file of failures')
    .addOption(json())
    .addHelpText('after', HELP)
    .action((file: string, options: Options) => send(file, options, context));
}

async function send(file: string, options: Options, context: Context): Promise<void> {
  const isStdin = file === '-';
  const format = formatOf(file, options.format);
  const { stdin, env, localDirectory } = context.cliContext;
  const csv = await csvOptions(file, options);
  const input = await openInput(file, format, csv, stdin ?? Readable.from([]));
  const failedPath = options.failed ?? (isStdin ? null : `${file}.failed.jsonl`);
  const failed = await readPreviousFailures(failedPath, options);
  const orders = () =>
    options.onlyFailed && failedPath !== null ? onlyFailed(input, failed, failedPath) : input.orders();
  const inputs = { 'the input': isStdin ? null : file, 'the file of --map': options.map ?? null };
  if (options.dryRun) return sendNothing(file, inputs, orders, { ...options, mapping: csv.mapping }, context);
  const config = await readSenderConfig(env, options.url, localDirectory);
  if (options.webhook && !config.signingSecret)
    throw new UsageError('--webhook needs ORDERS_SIGNING_SECRET, the signing secret of the account.');
  const journal = journalOf(file, options);
  const cleanUp = () => {
    if (journal.keepJournal === 'never') rmSync(dirname(journal.journalPath), { recursive: true, force: true });
  };
  const plan: SendPlan = {
    options,
    input,
    orders,
    dead: new Map(
      [...failed].flatMap(([position, { status, code, receipt_id: id }]) =>
        (status === 'dead' || code === MISMATCH) && id ? [[position, id]] : [],
      ),
    ),
    ...journal,
    failedPath,
    concurrency: options.concurrency ?? (options.webhook ? MAX_CONCURRENT_WEBHOOKS : MAX_CONCURRENT_BATCHES),
    cleanUp,
  };
  const report = await requireDistinctFiles({
    ...inputs,
    'the journal': plan.journalPath,
    'the file of failures': failedPath,
    'the file of failures under way': failedPath && temporaryPathOf(failedPath),
  })
    .then(() => runSend(plan, config, context))
    .finally(cleanUp);
  context.print(options, report, () => renderReport(report));
  const left = incompleteReason(report);
  if (left !== null) throw new Failure(left);
}

/** Checks the orders. The result has a file of its own: `--only-failed` and `--restart` need that of the last real run. */
async function sendNothing(
  file: string,
  inputs: Record<string, string | null>,
  orders: () => AsyncIterable<SourceOrder>,
  options: Options & Pick<CsvOptions, 'mapping'>,
  context: Context,
): Promise<void> {
  const { mapping } = options;
  const base = options.failed ?? (file === '-' ? null : file);
  const path = base && `${base}.dry-run.jsonl`;
  const outputs = { 'the file of the dry run': path, 'that file under way': path && temporaryPathOf(path) };
  await requireDistinctFiles({ ...inputs, ...outputs });
  const failures = await openFailureFile(path);
  const checked = await dryRun(orders(), { strict: options.strict === true, mapping }, failures).catch((error) => {
    failures.discard();
    throw error;
  });
  await failures.finish();
  const result = { ...checked, failed_file: checked.listed > 0 ? path : null };
  context.print(options, result, () => renderDryRun(result));
  if (result.refused > 0) throw new Failure(`${count(result.refused)} of ${count(result.read)} would be refused.`);
  if (result.repeated > 0) throw new Failure('Some orders have the id of another one.');
}

function journalOf(file: string, { journal, onlyFailed }: Options): Pick<SendPlan, 'journalPath' | 'keepJournal'> {
  if (onlyFailed) return { journalPath: journal ?? `${file}.orders-send-again.jsonl`, keepJournal: 'until known' };
  if (journal || file !== '-') return { journalPath: journal ?? `${file}.orders-send.jsonl`, keepJournal: 'always' };
  return { journalPath: join(mkdtempSync(join(tmpdir(), 'orders-send-')), 'journal'), keepJournal: 'never' };
}

async function csvOptions(file: string, options: Options): Promise<CsvOptions> {
  const { map, delimiter, ignoreColumn = [], ignoreUnmapped = false } = options;
  const mapping = map === undefined ? null : readMappingOf('--map', await readJsonFile(map, '--map'));
  return { mapping, ...delimitersOf(file, delimiter), ignored: ignoreColumn, ignoreUnmapped };
}

function append(text: string, earlier: string[] = []): string[] {
  return [...earlier, text.trim()];
}

function delimitersOf(file: string, given: string | undefined): Pick<CsvOptions, 'delimiter' | 'defaultDelimiter'> {
  const defaultDelimiter = file.endsWith('.tsv') ? '\t' : ',';
  if (given === undefined) return { delimiter: null, defaultDelimiter };
  const delimiter = given === 'tab' || given === '\\t' ? '\t' : given;
  if (delimiter.length !== 1 || delimiter === '"' || delimiter === '\n')
    throw new UsageError("--delimiter takes one character, such as ';', or the word tab.");
  return { delimiter, defaultDelimiter };
}

/** The failures of an earlier run: `--only-failed` sends only these, and `--restart` needs the dead ones. */
async function readPreviousFailures(
  path: string | null,
  { onlyFailed, restart }: Options,
): Promise<Map<number, StoredFailure>> {
  if (onlyFailed && path === null) throw new UsageError('--only-failed from standard input needs --failed.');
  if (path === null || !(onlyFailed || (restart && existsSync(path)))) return new Map();
  return readFailures(path);
}
