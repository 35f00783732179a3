import { randomBytes } from 'node:crypto';
import { until } from '@orders/test-services/until.ts';
import type { Knex } from 'knex';

/** A long random field: Postgres stores a body with it in TOAST, which `damageBody` damages. */
export const longNote = () => randomBytes(12_000).toString('base64');

/**
 * Deletes the TOAST chunks of a receipt's body, as a damaged page does: reading the body then fails with XX001. Postgres lets a superuser
 * do so only while the TOAST table is marked as an ordinary table.
 */
export async function damageBody(knex: Knex, receiptId: string): Promise<void> {
  const table = await knex.transaction(async (trx) => {
    const { rows } = await trx.raw(
      `select c.oid::regclass::text as partition, c.reltoastrelid as id, c.reltoastrelid::regclass::text as name, pg_column_toast_chunk_id(p.bodies) as chunk
       from receipts r join receipt_payloads p on p.batch_id = r.batch_id and p.account_id = r.account_id
       join pg_class c on c.oid = p.tableoid
       where r.receipt_id = ?`,
      [receiptId],
    );
    const [{ partition, id, name, chunk }] = rows;
    await trx.raw("update pg_class set relkind = 'r' where oid = ?", [id]);
    const { rowCount } = await trx.raw(`delete from ${name} where chunk_id = ?`, [chunk]);
    await trx.raw("update pg_class set relkind = 't' where oid = ?", [id]);
    if (rowCount === 0) throw new Error('the body is not in TOAST');
    return partition;
  });
  // A deleted chunk can be read until vacuum removes it, and an open transaction in another session delays that.
  await until('the body cannot be read', async () => {
    await knex.raw(`vacuum ${table}`);
    return knex(table)
      .join('receipts', { 'receipts.batch_id': `${table}.batch_id` })
      .where({ receipt_id: receiptId })
      .select(knex.raw('md5(bodies)'))
      .then(
        () => false,
        ({ code }) => code === 'XX001',
      );
  });
}

/** Makes Postgres reject orders whose `order_number` starts with `poison`; no payload of a sender can cause such an error. */
export async function poisonOrders(knex: Knex): Promise<void> {
  await knex.raw(`
    create or replace function refuse_poison() returns trigger language plpgsql as $$
    begin
      if new.order_number like 'poison%' then raise exception 'refused' using errcode = '23514', constraint = 'no_poison'; end if;
      return new;
    end $$;
    create or replace trigger refuse_poison before insert on orders for each row execute function refuse_poison()`);
}

/** Reverts `poisonOrders`. */
export async function stopPoisoning(knex: Knex): Promise<void> {
  await knex.raw('drop trigger if exists refuse_poison on orders');
}
