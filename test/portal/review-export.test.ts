import { describe, expect, test } from '@jest/globals';
import { ofTextFields } from '@orders/domain/text-fields.ts';
import type { ExportedOrder } from '@orders/portal/review/read-exported.ts';
import { lockTables, whoWait } from '../harness/barriers.ts';
import { createPerson, openPortalClient, type TestPerson } from '../harness/people.ts';
import { insertOrder } from '../harness/review-list.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal } = useStack({ portal: true });

/** An account with a signed-in user who exports its orders. */
async function openAccount() {
  const account = await stack.account();
  const person = await createPerson(stack, account.id);
  return { account, person, exportOrders: await exporterFor(person, account) };
}

/** Requests exports by `fetch`, which unlike the client of the other tests does not read CSV as something else. */
async function exporterFor({ email, password }: TestPerson, { id }: TestAccount) {
  const { headers } = await openPortalClient(portal).post('/session', { email, password });
  const cookie = String(headers['set-cookie']).split(';')[0] as string;
  return async (body: object) => {
    const reply = await fetch(`${portal.url}/api/accounts/${id}/orders/export`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: portal.url, Cookie: cookie },
      body: JSON.stringify(body),
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    return { status: reply.status, headers: reply.headers, text: bytes.toString(), bytes };
  };
}

const insert = ({ id }: TestAccount, columns?: Record<string, unknown>) => insertOrder(knex, id, columns);

const addNote = ({ id }: TestAccount, order_id: number, text: string) =>
  knex('order_notes').insert({ account_id: id, order_id, by: 'a@example.test', text });

const auditOf = async ({ id }: TestAccount) =>
  knex('audit_events').where({ account_id: id }).select('actor', 'action', 'subject', 'details');

/** Reads CSV as spreadsheets do: rows of cells. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
    if (end === '') break;
  }
  return rows.slice(0, -1);
}

/** The rows of a file by the names of its columns. */
function rowsOf(text: string): Record<string, string>[] {
  const [head = [], ...rows] = parseCsv(text.slice(1));
  return rows.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? 'missing'])));
}

describe('as CSV', () => {
  test('orders are rows of their normalized fields, in the requested order', async () => {
    const { account, person, exportOrders } = await openAccount();
    const received_at = new Date('2026-03-01T10:00:00Z');
    const full = await insert(account, {
      source_order_id: 'full',
      customer_name: 'محمد "Mo", the first',
      customer_phone: '+971501234567',
      customer_email: 'mo@example.test',
      customer_id: 'c-1',
      address: 'Villa 2,\nJumeirah',
      area: 'Jumeirah',
      emirate: 'Dubai',
      emirate_code: 'AE-DU',
      items: JSON.stringify([
        { name: 'Karak', quantity: 2, sku: 'K-1' },
        { name: null, quantity: null, sku: 'K-2' },
        { name: 'Tea', quantity: 1, sku: null },
      ]),
      total: '149.50',
      delivery_instructions: 'Call first',
      review_state: 'confirmed',
      reviewed_by: 'b@example.test',
      reviewed_at: received_at,
      received_at,
    });
    const empty = await insert(account, { source_order_id: 'empty', received_at });
    await addNote(account, full, 'First');
    await addNote(account, full, 'Second');

    const { status, headers, bytes, text } = await exportOrders({ order_ids: [full, empty, full], format: 'csv' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers.get('content-disposition')).toBe('attachment; filename="orders.csv"');
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    expect(text).toMatch(/^\uFEFForder_id,order_number,source_order_id,.*\r\n.*"محمد ""Mo"", the first".*\r\n/s);
    expect(text.endsWith('\r\n')).toBe(true);
    const texts = ofTextFields(() => '');
    const common = {
      channel: 'rest',
      source: '',
      is_test: 'false',
      currency: 'AED',
      received_at: received_at.toISOString(),
      ...texts,
    };
    const nothing = { reviewed_by: '', reviewed_at: '', customer_name: '', customer_phone: '', customer_email: '' };
    const noFields = {
      customer_id: '',
      address: '',
      area: '',
      emirate: '',
      emirate_code: '',
    };
    expect(rowsOf(text)).toEqual([
      {
        ...common,
        order_id: String(full),
        source_order_id: 'full',
        order_number: 'full',
        review_state: 'confirmed',
        reviewed_by: 'b@example.test',
        reviewed_at: received_at.toISOString(),
        customer_name: 'محمد "Mo", the first',
        customer_phone: '+971501234567',
        customer_email: 'mo@example.test',
        customer_id: 'c-1',
        address: 'Villa 2,\nJumeirah',
        area: 'Jumeirah',
        emirate: 'Dubai',
        emirate_code: 'AE-DU',
        delivery_instructions: 'Call first',
        items: '2 × Karak [K-1]; [K-2]; 1 × Tea',
        total: '149.50',
        notes: 'First\nSecond',
      },
      {
        ...common,
        ...nothing,
        ...noFields,
        order_id: String(empty),
        source_order_id: 'empty',
        order_number: 'empty',
        review_state: 'needs_review',
        items: '',
        total: '',
        notes: '',
      },
    ]);
    expect(await auditOf(account)).toContainEqual({
      actor: person.email,
      action: 'orders_exported',
      subject: `account:${account.id}`,
      details: { count: 2, format: 'csv' },
    });
  });

  test('no cell is a formula, and numbers stay numbers', async () => {
    const { account, exportOrders } = await openAccount();
    const order = await insert(account, {
      source_order_id: '=1+1',
      customer_name: 'Ali;=HYPERLINK("http://example.test")',
      customer_phone: '+971 4 123 4567 ext 9',
      customer_id: '-5',
      address: '\t=1',
      area: "-1+cmd|' /C calc'!A0",
      emirate: '+971501234567',
      delivery_instructions: '\r=1',
      items: JSON.stringify([{ name: '=HYPERLINK("http://example.test";"x")', quantity: null, sku: null }]),
      total: '-12.50',
    });
    await addNote(account, order, '@SUM(A1) - 2\n- 2\r\n\t; +1+1');
    const [row] = rowsOf((await exportOrders({ order_ids: [order], format: 'csv' })).text);
    expect(row).toMatchObject({
      source_order_id: "'=1+1",
      customer_name: `Ali;'=HYPERLINK("http://example.test")`,
      customer_phone: "'+971 4 123 4567 ext 9",
      customer_id: '-5',
      address: "'\t'=1",
      area: "'-1+cmd|' /C calc'!A0",
      emirate: '+971501234567',
      delivery_instructions: "'\r'=1",
      items: `'=HYPERLINK("http://example.test";"x")`,
      total: '-12.50',
      notes: "'@SUM(A1) - 2\n'- 2\r\n\t; '+1+1",
    });
  });
});

test('as JSON, orders have their items and notes', async () => {
  const { account, exportOrders } = await openAccount();
  const items = [{ name: 'Karak', quantity: 2, sku: null }];
  const [first, second] = [await insert(account, { items: JSON.stringify(items) }), await insert(account)];
  await addNote(account, first, 'Call first');
  const { status, headers, text } = await exportOrders({ order_ids: [second, first], format: 'json' });
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  const { orders } = JSON.parse(text);
  expect(orders).toEqual([
    expect.objectContaining({ order_id: second, items: [], notes: [] }),
    expect.objectContaining({
      order_id: first,
      items,
      customer: { name: null, phone: null, email: null, id: null },
      notes: [{ note_id: expect.any(Number), at: expect.any(String), by: 'a@example.test', text: 'Call first' }],
    }),
  ]);
});

test('a file says which orders are tests: those of their platform, and all of a test account', async () => {
  const { account, exportOrders } = await openAccount();
  const order_ids = [await insert(account), await insert(account, { is_test: true })];
  const marks = async (request: typeof exportOrders, order_ids: number[]) => [
    rowsOf((await request({ order_ids, format: 'csv' })).text).map(({ is_test }) => is_test),
    JSON.parse((await request({ order_ids, format: 'json' })).text).orders.map((order: ExportedOrder) => order.is_test),
  ];
  expect(await marks(exportOrders, order_ids)).toEqual([
    ['false', 'true'],
    [false, true],
  ]);
  const tests = await openAccount();
  const order_id = await insert(tests.account);
  await knex('memberships').where({ account_id: tests.account.id }).update({ account_id: account.id });
  await knex('accounts').where({ account_id: tests.account.id }).update({ test_of: account.id });
  expect(await marks(tests.exportOrders, [order_id])).toEqual([['true'], [true]]);
});

test('1,000 orders are one file', async () => {
  const { account, exportOrders } = await openAccount();
  const { rows } = await knex.raw(
    `insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, received_at)
     select ?, i, i, 'rest', gen_random_uuid(), jsonb_build_array(jsonb_build_object('name', repeat('n', i), 'quantity', 1, 'sku', null)),
            '[]', 'blocks', 'AED', now()
     from generate_series(1, 1001) as i returning order_id`,
    [account.id],
  );
  const ids: number[] = rows.map(({ order_id }: { order_id: number }) => order_id);
  const order_ids = ids.slice(0, 1000).toReversed();
  const exported = rowsOf((await exportOrders({ order_ids, format: 'csv' })).text);
  expect(exported.map(({ order_id }) => Number(order_id))).toEqual(order_ids);
  expect(exported[7]?.items).toBe(`1 × ${'n'.repeat(993)}`);
  const json = JSON.parse((await exportOrders({ order_ids, format: 'json' })).text);
  expect(json.orders.map(({ order_id }: { order_id: number }) => order_id)).toEqual(order_ids);
  const { status, text } = await exportOrders({ order_ids: ids, format: 'csv' });
  expect([status, JSON.parse(text).errors[0].pointer]).toEqual([422, '/order_ids']);
});

test('an export of long orders is refused in plain words when its file would be too large', async () => {
  const { account, exportOrders } = await openAccount();
  const { rows } = await knex.raw(
    `insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, received_at)
     select ?, i, i, 'rest', gen_random_uuid(), longest.items, '[]', 'blocks', 'AED', now()
     from generate_series(1, 60) as i,
          (select jsonb_agg(jsonb_build_object('name', repeat('n', 200), 'quantity', 1, 'sku', null)) as items
           from generate_series(1, 1500)) as longest
     returning order_id`,
    [account.id],
  );
  const order_ids: number[] = rows.map(({ order_id }: { order_id: number }) => order_id);
  for (const format of ['csv', 'json']) {
    const { status, text } = await exportOrders({ order_ids, format });
    expect([status, JSON.parse(text)]).toEqual([
      422,
      expect.objectContaining({
        code: 'invalid_request',
        errors: [
          {
            pointer: '/order_ids',
            code: 'export_too_large',
            detail: 'The file would be larger than 8 MiB. Export fewer orders at once.',
          },
        ],
      }),
    ]);
  }
  expect(await auditOf(account)).not.toContainEqual(expect.objectContaining({ action: 'orders_exported' }));
  const some = await exportOrders({ order_ids: order_ids.slice(0, 30), format: 'json' });
  expect(some.status).toBe(200);
  // Items that an earlier version accepted are cut to today's maximum, as in the page of an order.
  expect(JSON.parse(some.text).orders[29].items).toHaveLength(1000);
});

test('an order of another account is like an unknown one, and nothing is exported', async () => {
  const { account, exportOrders } = await openAccount();
  const other = await openAccount();
  const [mine, theirs] = [await insert(account), await insert(other.account, { customer_name: 'Secret' })];
  await addNote(other.account, theirs, 'Secret');
  for (const id of [theirs, 999_999_999]) {
    const { status, text } = await exportOrders({ order_ids: [mine, id], format: 'json' });
    expect([status, JSON.parse(text).code]).toEqual([404, 'order_not_found']);
    expect(text).not.toContain('Secret');
  }
  const throughOthers = await exporterFor(other.person, account);
  const { status, text } = await throughOthers({ order_ids: [mine], format: 'json' });
  expect([status, JSON.parse(text).code]).toEqual([404, 'account_not_found']);
  expect(await auditOf(account)).not.toContainEqual(expect.objectContaining({ action: 'orders_exported' }));
});

test('notes are those of the order and account', async () => {
  const { account, exportOrders } = await openAccount();
  const order = await insert(account);
  const { id } = await stack.account();
  await addNote({ ...account, id }, order, 'of another account');
  await addNote(account, await insert(account), 'of another order');
  const { text } = await exportOrders({ order_ids: [order], format: 'json' });
  expect(JSON.parse(text).orders[0].notes).toEqual([]);
});

test.each([
  [{ order_ids: [], format: 'csv' }, '/order_ids'],
  [{ order_ids: ['1'], format: 'csv' }, '/order_ids/0'],
  [{ order_ids: [1], format: 'xlsx' }, '/format'],
  [{ order_ids: [1] }, '/format'],
  [{ order_ids: [1], format: 'csv', account_id: 1 }, '/account_id'],
])('a request is refused with a pointer: %j', async (body, pointer) => {
  const { exportOrders } = await openAccount();
  const { status, text } = await exportOrders(body);
  expect([status, JSON.parse(text).errors[0].pointer]).toEqual([422, pointer]);
});

test('a third export of an account at the same time is refused until one has ended; other accounts are not concerned', async () => {
  const { account, exportOrders } = await openAccount();
  const other = await openAccount();
  const body = { order_ids: [await insert(account)], format: 'csv' };
  const theirs = { order_ids: [await insert(other.account)], format: 'csv' };
  const lock = await lockTables(knex, 'order_notes');
  const waiting = [exportOrders(body), exportOrders(body)];
  await whoWait(knex, 2, 'relation');
  const { status, headers } = await exportOrders(body);
  expect([status, headers.get('retry-after')]).toEqual([429, '1']);
  waiting.push(other.exportOrders(theirs));
  await whoWait(knex, 3, 'relation');
  await lock.release();
  expect((await Promise.all(waiting)).map((reply) => reply.status)).toEqual([200, 200, 200]);
  expect((await exportOrders(body)).status).toBe(200);
});
