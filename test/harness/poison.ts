import type { Knex } from 'knex';

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
