import { expect, test } from '@jest/globals';
import { setRateLimit } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { createApiKey } from '@orders/domain/api-key.ts';
import { openConnection } from '@orders/test-services/load/connection.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { type AttackResult, attack, attackRequest } from '../../verification/bench/src/isolation/attack.ts';
import { outcomeOf } from '../../verification/bench/src/isolation/polite-sender.ts';
import { lockTables } from '../harness/barriers.ts';
import { useIsolation } from '../harness/isolation.ts';
import { head, openRaw } from '../harness/raw-http.ts';
import type { TestAccount } from '../harness/stack.ts';

const isolation = useIsolation();

/** The previous attack continues, and no new one starts. */
const hold = (signal: AbortSignal) =>
  new Promise<AttackResult>((resolve) => {
    signal.addEventListener('abort', () => resolve({ replies: {}, receiptIds: [] }));
  });

/** Opens connections that send only the head of a request and one byte of its body. */
async function beginSlowBodies(count: number, path: string, key: string): Promise<void> {
  for (let index = 0; index < count; index++) {
    const connection = openRaw(isolation.intakeUrl);
    const slow = head(`POST /ingest/${path} HTTP/1.1`, [
      ['Host', 'x'],
      ['Authorization', `Bearer ${key}`],
      ['Content-Type', 'application/json'],
      ['Content-Length', 1000],
    ]);
    connection.socket.write(Buffer.concat([slow, Buffer.from('{')]));
    // At most as many at once as fit into the listen backlog.
    if (index % 100 === 99) await new Promise((resolve) => connection.socket.once('connect', resolve));
  }
}

test('500 slow bodies on each of two keys of one account', async () => {
  const { stack, hostile } = isolation;
  const { key: second } = await createKey(stack.database.db, hostile.id, 'second');
  await Promise.all([hostile.key, second].map((key) => beginSlowBodies(500, 'orders', key)));
  await isolation.expectUnharmed(hold);
});

test('slow bodies of batches and of lists of ids', async () => {
  for (const path of ['orders/batch', 'reconcile']) {
    for (const { key } of [isolation.hostile, isolation.accomplice]) await beginSlowBodies(50, path, key);
  }
  await isolation.expectUnharmed(hold);
});

test('well-formed unknown keys on every route', async () => {
  const routes = ['orders', 'orders/batch', 'reconcile', 'preview'];
  const { replies } = await isolation.expectUnharmed((signal) =>
    attack(
      (number) => attackRequest(isolation.intakeUrl, routes[number % routes.length] as string, createApiKey(), '{}'),
      {
        connections: 64,
        restMs: 0,
        signal,
      },
    ),
  );
  expect(Object.keys(replies).filter((reply) => !/^(401|503) /.test(reply))).toEqual([]);
});

test('2,000 unknown keys wait for a look-up at once, and more are rejected', async () => {
  const held = await lockTables(isolation.stack.database.knex, 'api_keys');
  const outcomes: string[] = [];
  const requests = Array.from({ length: 2100 }, async () => {
    const connection = openConnection(isolation.intakeUrl);
    const reply = await connection.exchange(attackRequest(isolation.intakeUrl, 'orders', createApiKey(), '{}'));
    outcomes.push(outcomeOf(reply));
    connection.close();
  });
  const countRejected = () => outcomes.filter((outcome) => outcome === '503 overloaded').length;
  await until('a key is rejected', async () => countRejected() > 0);
  await held.release();
  await Promise.all(requests);
  expect(countRejected()).toBeLessThanOrEqual(100);
});

test('1,000 waiters of one account end no wait of another', async () => {
  const { stack, intakeUrl, hostile, polite } = isolation;
  // Orders are accepted but not written. The polite account's cancellations are still decided.
  await stack.database.knex.raw(`
    create function wait_to_write() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(78); return new; end $$;
    create trigger wait_to_write before insert on orders for each row
    when (new.review_state = 'needs_review') execute function wait_to_write()`);
  const held = await stack.database.knex.transaction();
  await held.raw('select pg_advisory_xact_lock(78)');
  const waits: (string | null)[] = [];
  await isolation.expectUnharmed(async (signal) => {
    const ending = new AbortController();
    const waiting = attack(
      (number) =>
        attackRequest(intakeUrl, 'orders', hostile.key, `{"source_order_id":"waits ${number}"}`, { Prefer: 'wait=30' }),
      { connections: 1000, signal: ending.signal },
    );
    await until('there are receipts to wait for', async () => {
      const rows = await stack.database.knex('receipts').where({ account_id: hostile.id }).select('receipt_id');
      return rows.length >= 1000;
    });
    do {
      const reply = await fetch(`${intakeUrl}/ingest/orders`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${polite.key}`,
          'Content-Type': 'application/json',
          Prefer: 'wait=2',
        },
        body: `{"source_order_id":"polite ${waits.length}"}`,
      });
      expect(reply.status).toBe(202);
      await reply.text();
      waits.push(reply.headers.get('Preference-Applied'));
    } while (!signal.aborted);
    await held.commit();
    ending.abort();
    return waiting;
  });
  // A reply without a wait has no Preference-Applied.
  expect(waits).toEqual(waits.map(() => 'wait=2'));
});

test('as many status requests as possible', async () => {
  const { stack, intakeUrl } = isolation;
  const limited = await stack.account();
  await setRateLimit(stack.database.db, limited.id, { requests: 2, seconds: 60 });
  const { replies } = await isolation.expectUnharmed((signal) =>
    attack(() => attackRequest(intakeUrl, 'status/019be0e0-0000-7000-8000-000000000000', limited.key), {
      connections: 100,
      restMs: 20,
      signal,
    }),
  );
  expect(replies['429 rate_limited']).toBeGreaterThan(0);
});

test('pages of events that nobody reads', async () => {
  const { stack, hostile, accomplice, polite, intakeUrl } = isolation;
  const { knex } = stack.database;
  // A page of 1 MiB.
  const warnings = Array.from({ length: 100 }, () => ({ pointer: '/items', code: 'x'.repeat(100) }));
  for (const { id } of [hostile, accomplice, polite]) {
    await setEvents(connectionOf(knex), id, true);
    await knex.raw(
      `insert into events (account_id, sequence, event_id, type, happened_at, receipt_id, source_order_id, details)
       select ?, n, gen_random_uuid(), 'receipt.written', now(), gen_random_uuid(), 'x', ?::jsonb from generate_series(1, 100) as n`,
      [id, JSON.stringify({ warnings })],
    );
    await knex('event_logs').where({ account_id: id }).update({ last_sequence: 100 });
  }
  const headers = ({ key }: TestAccount) => ({ Authorization: `Bearer ${key}` });
  const readPage = async (account: TestAccount) => {
    const response = await fetch(`${intakeUrl}/ingest/events?limit=1000`, { headers: headers(account) });
    await response.bytes();
    return response.status;
  };
  const openUnread = (account: TestAccount) => {
    const connection = openRaw(intakeUrl);
    connection.socket.once('data', () => connection.socket.pause());
    const request = head('GET /ingest/events?limit=1000 HTTP/1.1', [
      ['Host', 'x'],
      ...Object.entries(headers(account)),
    ]);
    connection.socket.write(Buffer.concat(Array.from({ length: 8 }, () => request)));
  };
  for (const account of [hostile, accomplice]) for (let index = 0; index < 40; index++) openUnread(account);
  await until('the pages of both accounts fill their share', async () => {
    const statuses = [];
    for (const account of [hostile, accomplice]) {
      const status = await readPage(account);
      statuses.push(status);
      // The kernel takes the first pages of a connection, and the others may have been rejected while it had not taken those of others yet.
      if (status !== 503) openUnread(account);
    }
    return statuses.every((status) => status === 503);
  });
  expect(await readPage(polite)).toBe(200);
  await isolation.expectUnharmed(hold);
});

test('every accepted order is final', () => isolation.expectAllFinal());
