import { parseBody } from '@orders/domain';
import type { Knex } from 'knex';
import { ascending, idIn } from '../receipts/id-in.ts';

/** Receipts of all accounts that one statement goes through: none of them is found by its account. */
const EXAMINED = 50_000;
/** Whose bodies are in memory at a time, or change in one transaction. Each may bring a whole row of bodies, some MiB at most. */
const PORTION = 50;

/** A receipt with its body as it is stored, or null where that is gone. */
export interface StoredReceipt {
  receipt_id: string;
  source_order_id: string;
  erased_at: Date | null;
  batch_id: string;
  body_start: number;
  body_length: number;
  body: Buffer | null;
}

/** Before all others. */
export const FIRST_UUID = '00000000-0000-0000-0000-000000000000';

const FIND_PAGE = `
with examined as materialized (
  select receipt_id, account_id from receipts where receipt_id > :after::uuid order by receipt_id limit ${EXAMINED}
)
select (select receipt_id from examined order by receipt_id desc limit 1) as last,
       array(select receipt_id::text from examined where account_id = :accountId order by receipt_id) as ids`;

/** Ids of an account's receipts, oldest first, page by page; a page may be empty. Locks nothing. */
export async function* scanReceipts(db: Knex, accountId: number): AsyncGenerator<string[]> {
  for (let after: string | null = FIRST_UUID; after !== null; ) {
    const page = await findPage(db, accountId, after);
    yield page.ids;
    after = page.last;
  }
}

interface Page {
  ids: string[];
  /** The last that was examined; null when there was none. */
  last: string | null;
}

async function findPage(db: Knex, accountId: number, after: string): Promise<Page> {
  return db.transaction(async (trx) => {
    // By the key's order it stops at the end of the page; to sort it would read all there is first.
    await trx.raw('set local enable_sort = off');
    await trx.raw('set local enable_bitmapscan = off');
    const { rows } = await trx.raw<{ rows: Page[] }>(FIND_PAGE, { after, accountId });
    return rows[0] as Page;
  });
}

const COLUMNS = 'receipt_id, source_order_id, erased_at, batch_id, body_start, body_length';
const SELECT = `select ${COLUMNS} from receipts where ${idIn('receipt_id', ':ids')} and account_id = :accountId order by receipt_id`;

/** Receipts of these ids, which are in ascending order, some at a time and without bodies. */
export async function* readReceipts(
  db: Knex,
  accountId: number,
  receiptIds: readonly string[],
): AsyncGenerator<Omit<StoredReceipt, 'body'>[]> {
  for (const ids of inPortions(receiptIds)) yield (await db.raw(SELECT, { ids, accountId })).rows;
}

/** As many at a time as may be in memory with their bodies, or change in one transaction. */
export function* inPortions(receiptIds: readonly string[]): Generator<string[]> {
  for (let start = 0; start < receiptIds.length; start += PORTION) yield receiptIds.slice(start, start + PORTION);
}

/** Locks a portion of receipts, whose ids are in ascending order, in that order for the rest of the transaction. */
export async function lockReceipts(
  trx: Knex.Transaction,
  accountId: number,
  receiptIds: readonly string[],
): Promise<StoredReceipt[]> {
  const { rows } = await trx.raw(`${SELECT} for update`, { ids: receiptIds, accountId });
  return withBodies(trx, accountId, rows);
}

const FIND_BODIES = `
select batch_id, bodies from receipt_payloads where ${idIn('batch_id', ':ids')} and account_id = :accountId`;

/** The same receipts with their bodies. */
export async function withBodies(
  db: Knex,
  accountId: number,
  receipts: readonly Omit<StoredReceipt, 'body'>[],
): Promise<StoredReceipt[]> {
  const ids = ascending([...new Set(receipts.map((receipt) => receipt.batch_id))]);
  if (ids.length === 0) return [];
  const { rows } = await db.raw<{ rows: { batch_id: string; bodies: Buffer }[] }>(FIND_BODIES, { ids, accountId });
  const bodies = new Map(rows.map((row) => [row.batch_id, row.bodies]));
  return receipts.map((receipt) => {
    const start = receipt.body_start - 1;
    const body = bodies.get(receipt.batch_id)?.subarray(start, start + receipt.body_length) ?? null;
    return { ...receipt, body };
  });
}

/** The payload of a receipt; where its body is none, which intake would not have accepted, one that holds it as a text. */
export function payloadOf({
  source_order_id,
  body,
}: {
  source_order_id: string;
  body: Buffer;
}): Record<string, unknown> {
  try {
    return parseBody(body);
  } catch {
    return { source_order_id, body: body.toString('utf8') };
  }
}
