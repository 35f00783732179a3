import type { ReceiptRow } from '@orders/database/receipts/find-receipt.ts';
import { listDeadIds } from '@orders/database/receipts/dead-letters.ts';
import { findReceiptRecord, type ReceiptRecord, readReceipts } from '@orders/database/receipts/receipt-records.ts';
import { redriveReceipts } from '@orders/database/receipts/redrive-receipts.ts';
import { RECEIPT_STATES } from '@orders/domain/receipt-states.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import { type Command, Option } from 'commander';
import { json, limit, name, receiptId } from '../arguments.ts';
import { whoami } from '../audit.ts';
import type { Context } from '../context.ts';
import { plural } from '../count.ts';
import { describeReceipt, tabulateReceipts } from '../describe-receipt.ts';
import { Failure, UsageError } from '../errors.ts';
import { type ReceiptJson, receiptJson, receiptRecordJson } from '../receipt-json.ts';
import { requireAccount } from '../require-account.ts';
import type { Knex } from '../with-database.ts';

/** `orders receipts list | show | redrive`. */
export function addReceiptCommands(program: Command, context: Context): void {
  const receipts = program.command('receipts').description('accepted deliveries and their outcome');

  receipts
    .command('list')
    .description('receipts, newest first')
    .option('--account <account>', 'of this account (id or exact name)')
    .addOption(new Option('--state <state>', 'in this state').choices(RECEIPT_STATES))
    .option('--limit <number>', 'maximum number of rows', limit, 50)
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders receipts list --state dead --limit 10')
    .action(async (options) => {
      await context.withDatabase(async (knex) => {
        const accountId = await accountIdOf(knex, options.account);
        const { state, limit } = options;
        await context.printList(options, toJson(readReceipts(knex, { accountId, state, limit })), {
          table: tabulateReceipts,
          none: 'There are no such receipts.',
        });
      });
    });

  receipts
    .command('show')
    .description('one receipt with its history and its payload as received (personal data!)')
    .argument('<receipt-id>', 'a UUID', receiptId)
    .addOption(json())
    .action(async (id: string, options) => {
      const receipt = receiptRecordJson(await context.withDatabase((knex) => requireReceipt(knex, id)));
      context.print(options, receipt, () => describeReceipt(receipt));
    });

  receipts
    .command('redrive')
    .description('process dead receipts again, with all their attempts')
    .argument('[receipt-id]', 'a UUID', receiptId)
    .option('--all-dead', 'all that are dead, instead of one')
    .option('--account <account>', 'with --all-dead: of this account only (id or exact name)')
    .addOption(new Option('--by <name>', 'who asks for it').argParser(name('A name')).default(whoami(), 'the OS user'))
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders receipts redrive --all-dead --account "Corner Bakery"')
    .action(async (id: string | undefined, options) => {
      if ((id !== undefined) === (options.allDead === true))
        throw new UsageError('Give either a receipt id or --all-dead.');
      if (options.account !== undefined && !options.allDead) throw new UsageError('--account goes with --all-dead.');
      if (id !== undefined) {
        const receipt = receiptJson(await context.withDatabase((knex) => redriveOne(knex, id, options.by)));
        context.print(options, receipt, () => `Receipt ${id} is ${receipt.status}; the worker takes it from here.`);
      } else {
        const ids = await context.withDatabase((knex) => redriveAll(knex, options.account, options.by));
        context.print(
          options,
          { receipt_ids: ids },
          () => `${plural(ids.length, 'receipt')} redriven; the worker takes over from here.`,
        );
      }
    });
}

async function* toJson(chunks: AsyncIterable<ReceiptRow[]>): AsyncGenerator<ReceiptJson[]> {
  for await (const rows of chunks) yield rows.map(receiptJson);
}

async function accountIdOf(knex: Knex, reference: string | undefined): Promise<number | undefined> {
  return reference === undefined ? undefined : (await requireAccount(knex, reference)).account_id;
}

async function requireReceipt(knex: Knex, id: string): Promise<ReceiptRecord> {
  const receipt = await findReceiptRecord(knex, id);
  if (!receipt) throw new Failure(`There is no receipt ${id}; orders receipts list shows the latest.`);
  return receipt;
}

async function redriveOne(knex: Knex, id: string, actor: string): Promise<ReceiptRecord> {
  const redriven = await redriveReceipts(knex, [id], { actor });
  const receipt = await requireReceipt(knex, id);
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
async function redriveAll(knex: Knex, account: string | undefined, actor: string): Promise<string[]> {
  const redriven: string[] = [];
  const dead = await listDeadIds(knex, await accountIdOf(knex, account));
  for (const batch of chunkBySize(dead, () => 1, { size: REDRIVE_BATCH_SIZE }))
    redriven.push(...(await redriveReceipts(knex, batch, { actor })));
  return redriven;
}
