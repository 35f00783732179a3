import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import { hold, untilOrdersAreBeingWritten, whoWait } from '../harness/barriers.ts';
import { accountWithEvents, CUSTOMER_MEMBERS, erase, markersFor, NOT_ERASED } from '../harness/erasure.ts';
import { useStack } from '../harness/use-stack.ts';

// Tests hold its statements up.
const { stack, knex, db, api } = useStack({ intake: true, worker: { RETRY_ATTEMPTS: '1' } });

test('a receipt that a worker has read becomes an order without customer data', async () => {
  const account = await accountWithEvents(stack);
  // The worker has read the receipt but cannot write the order.
  const held = await hold(knex, 'lock table orders in share row exclusive mode');
  const { body } = await api.order(account, { source_order_id: 'held', ...CUSTOMER_MEMBERS, ...NOT_ERASED });
  await untilOrdersAreBeingWritten(knex);
  expect(await erase(stack, account, '--phone', '0508277163')).toMatchObject({ orders: 0, receipts: 1 });
  await held.release();
  expect(await api.final(account, body.receipt_id)).toMatchObject({ body: { status: 'written' } });
  expect(await markersFor(stack, account)).toEqual([]);
  const written = await knex('orders').where({ account_id: account.id });
  expect(written).toEqual([expect.objectContaining({ customer_phone: null, total: '149.50' })]);
});

test('search terms that are being created from the order are not kept', async () => {
  const account = await accountWithEvents(stack);
  await api.process(account, { source_order_id: 'words', ...CUSTOMER_MEMBERS });
  await knex.raw(`
    create function wait_with_words() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(77); return new; end $$;
    create trigger wait_with_words before insert on order_words for each row
    when (new.words::text like '%zubayda%') execute function wait_with_words()`);
  const held = await hold(knex, 'select pg_advisory_xact_lock(77)');
  await knex('orders')
    .where({ account_id: account.id })
    .update({ written_at: new Date(Date.now() - 300_000) });
  // The worker may create search terms too. One of them has read the order.
  const filling = fillSearchTerms(db);
  await whoWait(knex, 1, 'advisory');
  await erase(stack, account, '--phone', '0508277163');
  await held.release();
  await filling;
  await until('no run creates search terms', async () => {
    const { rows } = await knex.raw(
      "select from pg_stat_activity where datname = current_database() and state = 'active' and query like '%order_words%' and pid <> pg_backend_pid()",
    );
    return rows.length === 0;
  });
  expect(await markersFor(stack, account)).toEqual([]);
  await knex.raw('drop trigger wait_with_words on order_words');
});
