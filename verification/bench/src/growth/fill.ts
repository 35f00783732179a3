import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createPartitions } from '@orders/database/partitions/create-partitions.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { fillDatabase } from '../measure/fill-database.ts';

const DAY_MS = 24 * 3600 * 1000;
/** The age of the oldest receipts: the default retention. */
const DAYS = 90;
const ACCOUNTS = 8;
const BATCH = 50;
const CHUNK = 500_000;

/** Receipts number `first` to `last` of `rows`. */
interface ReceiptRange {
  fromIso: string;
  rows: number;
  accounts: readonly number[];
  first: number;
  last: number;
}

/** SQL that derives receipt number `i`, its body and its order from that number. */
function statementsFor({ fromIso, rows, accounts, first, last }: ReceiptRange): string[] {
  const timeOf = (number: string) => `(timestamptz '${fromIso}' + ${number} * (interval '${DAYS} days' / ${rows}))`;
  const uuidOf = (time: string, number: string) => `(
    lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0')
    || '7' || substr(md5(${number}::text), 1, 3) || '8' || substr(md5(${number}::text), 4, 15))::uuid`;
  const batchOf = (batch: string) => uuidOf(timeOf(`(${batch} * ${BATCH})`), `(${batch})`);
  const accountOf = (batch: string) => `('{${accounts.join(',')}}'::int[])[${batch} % ${accounts.length} + 1]`;
  const at = timeOf('i');
  const receiptId = uuidOf(at, 'i');
  const batch = `(i / ${BATCH})`;
  const sourceOrderId = "'SHOP-' || lpad(i::text, 12, '0')";
  const numbers = `generate_series(${first}::bigint, ${last}::bigint) as i`;
  // About 600 bytes, all of the same length.
  const body = `
    '{"source_order_id":"' || ${sourceOrderId} || '","customer":{"name":"Aisha Al Mansoori","phone":"050' || lpad((i % 10000000)::text, 7, '0')
    || '","email":"' || md5(i::text) || '@example.com"},"address":"Apt ' || lpad((i % 3000)::text, 4, '0')
    || ', Marina Heights, Dubai Marina","emirate":"Dubai","area":"Dubai Marina","items":[{"name":"Chicken Shawarma","quantity":2,"sku":"SH-1"},'
    || '{"name":"Karak","quantity":3,"sku":null},{"name":"Basmati Rice 5kg","quantity":1,"sku":"GR-114"}],"total":"149.50","currency":"AED",'
    || '"delivery_instructions":"Leave it with the guard, code ' || md5('code' || i) || ', and call when you are on your way up."}'`;
  return [
    `insert into receipts (receipt_id, account_id, received_at, updated_at, normalized_at, order_id, attempts, state, channel,
                           source_order_id, batch_id, body_start, body_length)
     select ${receiptId}, ${accountOf(batch)}, ${at}, ${at}, ${at}, i, 1, 'written', 'rest', ${sourceOrderId},
            ${batchOf(batch)}, i % ${BATCH} * length(${body}) + 1, length(${body})
     from ${numbers}`,
    `insert into receipt_payloads (batch_id, account_id, bodies)
     select ${batchOf('batch')}, ${accountOf('batch')}, bodies
     from (select ${batch} as batch, string_agg(${body}, '' order by i)::bytea as bodies from ${numbers} group by 1) as batches`,
    `insert into orders (account_id, order_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone,
                         customer_email, address, emirate, emirate_code, area, items, total, currency, delivery_instructions, warnings, severity,
                         received_at, written_at)
     select ${accountOf(batch)}, i, ${sourceOrderId}, ${sourceOrderId}, 'rest', ${receiptId}, 'Aisha Al Mansoori',
            '+97150' || lpad((i % 10000000)::text, 7, '0'), md5(i::text) || '@example.com',
            'Apt ' || lpad((i % 3000)::text, 4, '0') || ', Marina Heights, Dubai Marina', 'Dubai', 'AE-DU', 'Dubai Marina',
            '[{"name": "Chicken Shawarma", "quantity": 2, "sku": "SH-1"}, {"name": "Karak", "quantity": 3, "sku": null}]', 149.50, 'AED',
            'Leave it with the guard, code ' || md5('code' || i) || ', and call when you are on your way up.', '[]', 'none', ${at}, ${at}
     from ${numbers}`,
    `insert into order_keys (account_id, source_order_id, order_id) select ${accountOf(batch)}, ${sourceOrderId}, i from ${numbers}`,
  ];
}

/** Fills a database with `rows` written orders, their receipts and bodies, spread over the last 90 days. */
export async function fill(databaseUrl: string, rows: number): Promise<void> {
  const from = Date.now() - DAYS * DAY_MS;
  const fromIso = new Date(from).toISOString();
  await fillDatabase(databaseUrl, { rows, chunk: CHUNK }, async (knex) => {
    for (let day = 0; day < DAYS; day += 7) await createPartitions(connectionOf(knex), from + day * DAY_MS);
    const accounts: number[] = [];
    while (accounts.length < ACCOUNTS) accounts.push((await createAccount(connectionOf(knex), 'Grown')).account_id);
    return {
      result: undefined,
      statementsFor: (first, last) => statementsFor({ fromIso, rows, accounts, first: first - 1, last: last - 1 }),
      async afterPart(stored) {
        if (stored < rows) return;
        await knex.raw(`select setval('order_ids', ${rows})`);
        // The work of autovacuum in 90 days.
        for (const table of ['receipts', 'receipt_payloads', 'orders']) await knex.raw(`vacuum analyze ${table}`);
        await knex.raw('checkpoint');
      },
    };
  });
}
