import type { Database } from '@orders/database/connect.ts';
import type { ReceiptRow } from '@orders/database/receipts/find-receipt.ts';
import {
  findReceiptRecord,
  isOf,
  type ReceiptRecord,
  readReceipts,
} from '@orders/database/receipts/receipt-records.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { run } from '@orders/database/run.ts';
import { payloadJson, receiptJson as statusReply } from '@orders/domain/receipt-json.ts';
import { RECEIPT_STATES, type ReceiptState } from '@orders/domain/receipt-states.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { by, limit, OF_ACCOUNT, receiptId } from '../arguments.ts';
import { argument, type Group, option } from '../command.ts';
import { warningLines } from '../describe-order.ts';
import { Failure, UsageError } from '../errors.ts';
import { requireAccount } from '../require.ts';
import { escapeControls } from '../sanitize.ts';
import { details, plural, table } from '../table.ts';

interface ListOptions {
  account?: string;
  state?: ReceiptState;
  limit: number;
  json?: boolean;
}

interface RedriveOptions {
  allDead?: boolean;
  account?: string;
  by: string;
}

export const receipts: Group = {
  about: 'accepted deliveries and their outcome',
  commands: {
    list: {
      about: 'receipts, newest first; those of a test account only with --account',
      options: [
        OF_ACCOUNT,
        option('--state <state>', 'in this state', RECEIPT_STATES),
        option('--limit <number>', 'maximum number of rows', limit, 50),
      ],
      examples: ['orders receipts list --state dead --limit 10'],
      run: ({ withDatabase, printList }, options: ListOptions) =>
        withDatabase(async (database) => {
          const { state, limit } = options;
          const found = readReceipts(database, {
            accountId: await accountIdOf(database, options.account),
            state,
            limit,
          });
          return printList(options, toJson(found), { table: tabulateReceipts, none: 'There are no such receipts.' });
        }),
    },
    show: {
      about: 'one receipt with its history and its payload as received (personal data!)',
      arguments: [argument('<receipt-id>', 'a UUID', receiptId)],
      async run({ withDatabase }, id: string) {
        const receipt = receiptRecordJson(await withDatabase((database) => requireReceipt(database, id)));
        return [receipt, describeReceipt(receipt)];
      },
    },
    redrive: {
      about: 'process dead receipts again, with all their attempts',
      arguments: [argument('[receipt-id]', 'a UUID', receiptId)],
      options: [
        option('--all-dead', 'all that are dead, instead of one; those of a test account only with --account'),
        option('--account <account>', 'with --all-dead: of this account only (id or exact name)'),
        by('who asks for it'),
      ],
      examples: ['orders receipts redrive --all-dead --account "Corner Bakery"'],
      async run({ withDatabase }, id: string | undefined, { allDead = false, account, by }: RedriveOptions) {
        if ((id !== undefined) === allDead) throw new UsageError('Give either a receipt id or --all-dead.');
        if (account !== undefined && !allDead) throw new UsageError('--account goes with --all-dead.');
        if (id !== undefined) {
          const receipt = receiptJson(await withDatabase((database) => redriveOne(database, id, by)));
          return [receipt, `Receipt ${id} is ${receipt.status}; the worker takes it from here.`];
        }
        const ids = await withDatabase((database) => redriveAll(database, account, by));
        return [{ receipt_ids: ids }, `${plural(ids.length, 'receipt')} redriven; the worker takes over from here.`];
      },
    },
  },
};

async function* toJson(chunks: AsyncIterable<ReceiptRow[]>): AsyncGenerator<ReceiptJson[]> {
  for await (const rows of chunks) yield rows.map(receiptJson);
}

async function accountIdOf(database: Database, reference: string | undefined): Promise<number | undefined> {
  return reference === undefined ? undefined : (await requireAccount(database, reference)).account_id;
}

async function requireReceipt(database: Database, id: string): Promise<ReceiptRecord> {
  const receipt = await findReceiptRecord(database, id);
  if (!receipt) throw new Failure(`There is no receipt ${id}; orders receipts list shows the latest.`);
  return receipt;
}

async function redriveOne(database: Database, id: string, actor: string): Promise<ReceiptRecord> {
  const redriven = await redriveReceipts(database, [id], { actor });
  const receipt = await requireReceipt(database, id);
  if (redriven.length === 0)
    throw new Failure(
      receipt.error_code === 'mapping_failed'
        ? `Receipt ${id} is still dead: the mapping of its source finds no valid source_order_id, or its order is locked. orders sources map changes the mapping.`
        : `Receipt ${id} is ${receipt.state}; only one that is dead can be redriven.`,
    );
  return receipt;
}

/** Receipts per transaction. */
const REDRIVE_BATCH_SIZE = 500;

/** Works in batches; if interrupted, it can be repeated. */
async function redriveAll(database: Database, account: string | undefined, actor: string): Promise<string[]> {
  const redriven: string[] = [];
  const dead = await run<{ receipt_id: string }>(
    database,
    `select d.receipt_id from dead_letters d where ${isOf('d')} order by d.receipt_id`,
    [await accountIdOf(database, account)],
  );
  const ids = dead.map(({ receipt_id }) => receipt_id);
  for (const batch of chunkBySize(ids, () => 1, { size: REDRIVE_BATCH_SIZE }))
    redriven.push(...(await redriveReceipts(database, batch, { actor })));
  return redriven;
}

/** Receipts as a table. */
function tabulateReceipts(receipts: readonly ReceiptJson[]): string {
  return table(receipts, [
    { head: 'RECEIPT', cell: (receipt) => receipt.receipt_id },
    { head: 'ACCOUNT', cell: (receipt) => receipt.account_id, right: true },
    { head: 'STATE', cell: (receipt) => receipt.status },
    { head: 'SOURCE ORDER', cell: (receipt) => receipt.source_order_id, shrinks: true },
    { head: 'RECEIVED', cell: (receipt) => receipt.received_at },
  ]);
}

/** One receipt as text, with its history and its payload as received. */
function describeReceipt(receipt: ReceiptRecordJson): string {
  const { error, duplicate_of } = receipt;
  const summary = details([
    ['receipt', receipt.receipt_id],
    ['account', receipt.account_id],
    ['state', receipt.status],
    ['error', error ? `${error.code}: ${error.detail}` : undefined],
    ['order', receipt.order_id ?? undefined],
    ['order state', receipt.order_state ?? undefined],
    ['duplicate of', duplicate_of ? `order ${duplicate_of.order_id}, receipt ${duplicate_of.receipt_id}` : undefined],
    ['changes', receipt.changes.map(({ pointer }) => pointer).join('\n') || undefined],
    ['source order', receipt.source_order_id],
    ['source', receipt.source?.name],
    ['id on the platform', receipt.source?.platform_id ?? undefined],
    ['channel', receipt.channel],
    ['received', receipt.received_at],
    ['normalized', receipt.normalized_at],
    ['updated', receipt.updated_at],
    ['attempts', receipt.attempts],
    ['next attempt', receipt.next_attempt_at ?? undefined],
    ['warnings', warningLines(receipt.warnings)],
    ['erased', receipt.erased_at ?? undefined],
    ['history', receipt.history.map(historyLine).join('\n') || undefined],
  ]);
  return `${summary}\n\n${payload(receipt)}`;
}

function historyLine(entry: Record<string, unknown>): string {
  return Object.entries(entry)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function payload(receipt: ReceiptRecordJson): string {
  if ('payload_base64' in receipt) return `payload (not UTF-8, in base64)\n${receipt.payload_base64}`;
  const title = receipt.erased_at ? 'payload (personal data was erased)' : 'payload';
  return receipt.payload === null ? 'The payload was deleted.' : `${title}\n${escapeControls(receipt.payload)}`;
}

/** A receipt for the command line: the status reply plus its account; of changes only the pointers. */
function receiptJson(receipt: ReceiptRow) {
  const { receipt_id, changes, ...rest } = statusReply(receipt);
  const pointers = changes.map(({ pointer }) => ({ pointer }));
  return { receipt_id, account_id: receipt.account_id, ...rest, changes: pointers };
}

/** Like `receiptJson`, with the history and the body as received: `payload` if it is UTF-8, else `payload_base64`. */
function receiptRecordJson(receipt: ReceiptRecord) {
  return {
    ...receiptJson(receipt),
    normalized_at: receipt.normalized_at,
    history: receipt.history ?? [],
    erased_at: receipt.erased_at,
    ...payloadJson(receipt.body),
  };
}

type ReceiptJson = ReturnType<typeof receiptJson>;
type ReceiptRecordJson = ReturnType<typeof receiptRecordJson>;
