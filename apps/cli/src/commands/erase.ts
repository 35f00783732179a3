import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findTestAccountId } from '@orders/database/accounts/test-accounts.ts';
import { toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import type { Connection } from '@orders/database/run.ts';
import { type CustomerSearch, searchCustomer } from '@orders/domain/customer-search.ts';
import { readArchive } from '../archive/archive-file.ts';
import { ACCOUNT, customerIdentity, whoami } from '../arguments.ts';
import { recordAccountAction } from '../audit.ts';
import { type CommandSpec, option } from '../command.ts';
import { eraseOrder } from '../erasure/erase-order.ts';
import { type CustomerOrder, type Examined, findCustomer, type StoredOrder } from '../erasure/find-customer.ts';
import { Failure, UsageError } from '../errors.ts';
import { requireAccount } from '../require.ts';
import { plural } from '../table.ts';

/** Orders and receipts between two progress lines; smaller accounts finish in seconds. */
const REPORT_INTERVAL = 50_000;

interface EraseOptions {
  phone?: string;
  email?: string;
  customerId?: string;
  archives?: string;
  dryRun?: boolean;
}

/** What was erased or, with `--dry-run`, would be. */
interface Erasure {
  account_id: number;
  dry_run: boolean;
  orders: number;
  /** How many of `orders` are confirmed: the dispatching system may have a copy. */
  confirmed_orders: number;
  receipts: number;
  examined: Examined;
  /** With `--archives`: the files that contain the customer, also in its test account; they are not changed. */
  archives?: FoundArchive[];
  /** With `--dry-run`: where the customer was found, without personal data. */
  found?: Found[];
  /** The same of its test account, if it has one. */
  test_account?: Erasure;
}

interface Found {
  /** Null if the order is not written yet. */
  order_id: number | null;
  /** The oldest receipt; null if all are past their retention. */
  receipt_id: string | null;
  receipts: number;
  /** Field names. */
  matched: string[];
}

export const erase: CommandSpec = {
  about: "remove a customer's personal data from an account's orders and receipts, for good",
  arguments: [ACCOUNT],
  options: [
    option('--phone <number>', 'in any usual spelling', customerIdentity('--phone')),
    option('--email <address>', 'in any case', customerIdentity('--email')),
    option('--customer-id <id>', "exactly as the account's orders have it", customerIdentity('--customer-id')),
    option(
      '--archives <directory>',
      'also name the files of orders archive in it that contain the customer; they stay as they are',
    ),
    option('--dry-run', 'count and list what would be erased, and change nothing; --json says in which fields'),
  ],
  help: `\
An order that matches any of the options is erased with all its receipts. Ids, states, times, items, totals and the emirate are kept.
The account's test account is searched too. The command can be repeated, and must be if the sender sends such an order again.`,
  examples: ['orders erase "Corner Bakery" --phone "050 123 4567" --dry-run'],
  async run({ report, withDatabase }, reference: string, options: EraseOptions) {
    const by = (['phone', 'email', 'customerId'] as const).filter((name) => options[name] !== undefined);
    if (by.length === 0) throw new UsageError('Give --phone, --email or --customer-id.');
    const erasure = await withDatabase(async (database) => {
      const { account_id } = await requireAccount(database, reference);
      const testId = await findTestAccountId(database, account_id);
      const { archives: directory, dryRun = false } = options;
      const search = searchCustomer(options);
      const archives = directory && (await findInArchives(directory, [account_id, testId], search));
      const eraseIn = (id: number) => eraseCustomer(database, id, { search, by, report, dryRun });
      return {
        ...(await eraseIn(account_id)),
        ...(archives && { archives }),
        ...(testId !== null && { test_account: await eraseIn(testId) }),
      };
    });
    return [erasure, describe(erasure)];
  },
};

async function eraseCustomer(
  database: Connection,
  accountId: number,
  {
    search,
    by,
    report,
    dryRun,
  }: { search: CustomerSearch; by: string[]; report: (line: string) => void; dryRun: boolean },
): Promise<Erasure> {
  let reported = 0;
  const { found, examined } = await findCustomer(database, accountId, search, ({ orders, receipts }) => {
    if (orders + receipts < reported + REPORT_INTERVAL) return;
    reported = orders + receipts;
    report(`Searched ${plural(orders, 'order')} and ${plural(receipts, 'receipt')}.`);
  });
  const done = { orders: 0, confirmed_orders: 0, receipts: 0 };
  for (const customerOrder of found) {
    const { order, receipts } = dryRun
      ? { order: customerOrder.reviewState, receipts: customerOrder.receiptIds.length }
      : await eraseOrder(database, { ...customerOrder, accountId, search, actor: whoami(), by });
    done.orders += Number(order !== null);
    done.confirmed_orders += Number(order === 'confirmed');
    done.receipts += receipts;
  }
  if (dryRun) return { account_id: accountId, dry_run: true, ...done, examined, found: found.map(toFound) };
  // Recorded even if nothing was found.
  await recordAccountAction(database, accountId, 'customer_erased', { by, ...done });
  return { account_id: accountId, dry_run: false, ...done, examined };
}

function toFound({ orderId, receiptIds, matched }: CustomerOrder): Found {
  const [receiptId = null] = receiptIds;
  return { order_id: orderId, receipt_id: receiptId, receipts: receiptIds.length, matched: [...matched] };
}

function describe(erasure: Erasure): string {
  const parts = [erasure, erasure.test_account].filter((part) => part !== undefined);
  const lines = parts.flatMap((part) => describePart(part, part !== erasure));
  if (parts.some(({ dry_run, orders, receipts }) => !dry_run && orders + receipts > 0))
    lines.push('Backups keep the data until they expire.');
  return lines.join('\n');
}

function describePart(
  { account_id, dry_run, orders, confirmed_orders, receipts, archives = [], found = [] }: Erasure,
  isTestAccount: boolean,
): string[] {
  const verb = dry_run ? 'Would erase' : 'Erased';
  const where = `${plural(orders, 'order')} and ${plural(receipts, 'receipt')}`;
  const account = isTestAccount ? `its test account ${account_id}` : `account ${account_id}`;
  const lines = [`${verb} the customer from ${where} of ${account}.`];
  const orderIds = found.flatMap(({ order_id }) => order_id ?? []);
  const receiptIds = found.flatMap(({ order_id, receipt_id }) => (order_id === null ? (receipt_id ?? []) : []));
  if (orderIds.length > 0) lines.push(`Orders: ${orderIds.join(', ')}.`);
  if (receiptIds.length > 0) lines.push(`Receipts of orders that are not written: ${receiptIds.join(', ')}.`);
  // Dispatching sees no orders of a test account.
  if (confirmed_orders > 0 && !isTestAccount)
    lines.push(
      `${plural(confirmed_orders, 'order was', 'orders were')} confirmed: the dispatching system may have a copy.`,
    );
  for (const { file, orders } of archives)
    lines.push(`The archive ${file} has the customer in ${plural(orders, 'order')}.`);
  return lines;
}

/** A file of `orders archive` that contains the customer. */
interface FoundArchive {
  file: string;
  orders: number;
}

/** A line of an archive. */
interface ArchivedOrder {
  order: StoredOrder;
  notes: { text: string }[];
  cancellation_request: { reason: string | null } | null;
}

/**
 * Finds the archives that contain a customer of one of these accounts, by reading all `.ndjson.gz` files of a directory. They are not changed.
 *
 * @throws {Failure} if a file is damaged or is no archive.
 */
async function findInArchives(
  directory: string,
  accountIds: (number | null)[],
  search: CustomerSearch,
): Promise<FoundArchive[]> {
  const found: FoundArchive[] = [];
  for (const file of (await readdir(directory)).filter((name) => name.endsWith('.ndjson.gz')).toSorted()) {
    let orders = 0;
    try {
      for await (const line of readArchive(join(directory, file))) {
        const archived: ArchivedOrder = JSON.parse(line);
        if (accountIds.includes(archived.order.account_id) && isAbout(archived, search)) orders += 1;
      }
    } catch {
      throw new Failure(`${file} is damaged or is no archive of orders; nothing was erased.`);
    }
    if (orders > 0) found.push({ file, orders });
  }
  return found;
}

function isAbout({ order: row, notes, cancellation_request }: ArchivedOrder, search: CustomerSearch): boolean {
  const order = toOrder(toJson(row));
  const texts = [row.review_reason, cancellation_request?.reason, ...notes.map(({ text }) => text)];
  return search.whereIn(order, order).length > 0 || texts.some((text) => search.isMentioned(text));
}
