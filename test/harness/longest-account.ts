import type { Knex } from 'knex';

/** The max number of items that an earlier version accepted: an empty item takes two bytes of the body and fifty in the database. */
const ITEMS = 87_000;
export const LONG_ORDER = `{"source_order_id":"ID","items":[${Array.from({ length: ITEMS }, () => '{}').join(',')}]}`;

const ORDERS = 24;
const LONG_EVENTS = 6;
const EMPTY_ITEM = `'{"name": null, "quantity": null, "sku": null}'::jsonb`;
const warnings = (pointer: string) => `
  (select jsonb_agg(jsonb_build_object('pointer', ${pointer} || n || repeat('p', 250), 'code', 'unknown_field',
                                       'detail', repeat('d', 100))) from generate_series(1, 1000) n)`;

/**
 * Gives an account the largest data that earlier versions accepted: orders, history of receipts, audit events, rejections, users and kinds
 * of warnings.
 *
 * @param receiptId the receipt of each order.
 * @returns the ids of the orders. The first has the longest history, the last the longest reply.
 */
export async function insertLongest(knex: Knex, accountId: number, receiptId: string): Promise<number[]> {
  const run = async (sql: string, more: Record<string, Knex.Value> = {}) =>
    (await knex.raw<{ rows: { order_id: number }[] }>(sql, { accountId, ...more })).rows;
  const rows = await run(
    `with longest as materialized (
       select (select jsonb_agg(${EMPTY_ITEM}) from generate_series(1, ${ITEMS})) as items, ${warnings("'/items/'")} as warnings
     )
     insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, address,
                         delivery_instructions, received_at)
     select :accountId, gen_random_uuid(), repeat('ع', 255), 'rest', :receiptId, items, warnings, 'blocks', 'AED', repeat('ع', 1000),
            repeat('ع', 2000), now() - interval '1 hour'
     from longest, generate_series(1, ${ORDERS})
     returning order_id`,
    { receiptId },
  );
  const ids = rows.map(({ order_id }) => order_id);
  await run(
    `update receipts set warnings = ${warnings("'/'")},
       history = (select jsonb_agg(jsonb_build_object('attempt', 1, 'failed_at', now(), 'code', 'write_refused'))
                  from generate_series(1, 20000))
     where account_id = :accountId`,
  );
  const [longest] = ids.slice(-1) as [number];
  await run(
    `insert into audit_events (account_id, actor, action, subject, details)
     select :accountId, 'old', 'order_edited', 'order:' || :orderId, jsonb_build_object('changes', jsonb_build_array(
              jsonb_build_object('pointer', '/address', 'before', repeat('a', 1200), 'after', repeat('b', 1200))))
     from generate_series(1, 200)`,
    { orderId: longest },
  );
  await run(
    `insert into audit_events (account_id, actor, action, subject, details)
     select :accountId, 'old', 'order_edited', 'order:' || :orderId, jsonb_build_object('changes', jsonb_build_array(
              jsonb_build_object('pointer', '/items', 'before',
                                 (select jsonb_agg(${EMPTY_ITEM}) from generate_series(1, ${ITEMS})), 'after', '[]'::jsonb)))
     from generate_series(1, ${LONG_EVENTS})`,
    { orderId: ids[0] as number },
  );
  await run(
    `insert into changed_deliveries (account_id, order_id, receipt_id, received_at, changes, decision)
     select :accountId, :orderId, gen_random_uuid(), now(), jsonb_agg(
              jsonb_build_object('pointer', '/items/' || i || '/name', 'from', repeat('a', 100), 'to', repeat('b', 100))), 'refused'
     from generate_series(1, 20) n, generate_series(1, 60) i
     group by n`,
    { orderId: longest },
  );
  await run(
    `insert into rejected_deliveries (account_id, channel, code, request_id, key_id, errors)
     select :accountId, 'rest', 'validation_failed', 'x', 1,
            (select jsonb_agg(jsonb_build_object('pointer', '/' || repeat('ع', 199), 'code', 'unknown_field'))
             from generate_series(1, 20))
     from generate_series(1, 5000)`,
  );
  await run(
    `with added as (
       insert into users (id, email, name, role)
       select 'many-' || n, 'many-' || n || '@example.test', repeat('n', 200), 'account_holder'
       from generate_series(1, 50000) n returning id
     )
     insert into memberships (user_id, account_id, role) select id, :accountId, 'owner' from added`,
  );
  await run(
    `insert into activity (account_id, bucket_start, warnings)
     select :accountId, date_bin('5 minutes', now(), 'epoch') - b * interval '5 minutes',
            (select jsonb_object_agg('unknown_field /' || b || '/' || n || repeat('p', 250), 1) from generate_series(1, 1000) n)
     from generate_series(1, 100) b`,
  );
  return ids;
}
