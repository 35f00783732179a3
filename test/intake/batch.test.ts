import { describe, expect, test } from '@jest/globals';
import { listRejected } from '@orders/database/rejected-deliveries.ts';
import { until } from '@orders/test-services/until.ts';
import { describeQueues, QUEUE_KIND } from '../harness/queue.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { expectSettled, written } from '../harness/settled.ts';
import { startStack } from '../harness/stack.ts';
import { countStored, readBodies } from '../harness/stored.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, intake, account } = useStack({
  queue: QUEUE_KIND,
  intake: { MAX_BODY_BYTES: '2000', MAX_BATCH_BYTES: '200000' },
  account: true,
});

const order = (id: string) => JSON.stringify({ source_order_id: id, total: '12.50' });
const lines = (...texts: string[]) => Buffer.from(texts.join('\n'));
const receipt = { receipt_id: expect.any(String) };
const rejection = (status: number, code: string) => ({
  error: expect.objectContaining({ status, code, detail: expect.any(String) }),
});

describeQueues('a batch of orders, the queue on %s', (kind) => {
  test('as lines or as an array gets a receipt for each order, in its order, and each becomes an order', async () => {
    const own = await startStack(kind);
    const { api } = await own.intake();
    const sender = await own.account();
    const names = Array.from({ length: 700 }, (_, index) => `together ${index}`);
    const asLines = await api.batch(sender, lines(...names.map(order)));
    const asArray = await api.batch(
      sender,
      names.map((name) => ({ source_order_id: `${name} in an array` })),
    );
    const receiptIds: string[] = [];
    for (const { status, body } of [asLines, asArray]) {
      expect({ status, ...body, results: body.results.length }).toEqual({
        status: 202,
        accepted: 700,
        refused: 0,
        mismatched: 0,
        results: 700,
      });
      receiptIds.push(...body.results.map((result: { receipt_id: string }) => result.receipt_id));
    }
    const stored = await own.database.knex('receipts').select('receipt_id', 'source_order_id');
    const nameOf = new Map(stored.map((row) => [row.receipt_id, row.source_order_id]));
    expect(receiptIds.map((id) => nameOf.get(id))).toEqual([...names, ...names.map((name) => `${name} in an array`)]);
    await own.worker();
    await expectSettled(own, sender, written(receiptIds));
  });
});

test('is accepted except for its invalid orders, which leave nothing behind', async () => {
  const deep = `{"source_order_id":"deep","x":${'['.repeat(64)}${']'.repeat(64)}}`;
  const long = JSON.stringify({ source_order_id: 'long', x: 'x'.repeat(2000) });
  const before = await countStored(knex);
  const { status, body } = await intake.api.batch(
    account,
    Buffer.concat([
      lines(order('first'), '{"source_order_id":', order('third'), '{}', '[]', deep, long),
      Buffer.from('\n{"source_order_id":"\xff"}\n', 'latin1'),
      lines('', '  \t\r', `${order('last')}\r`),
    ]),
  );
  expect({ status, body }).toEqual({
    status: 202,
    body: {
      accepted: 3,
      refused: 6,
      mismatched: 0,
      results: [
        receipt,
        rejection(400, 'malformed_body'),
        receipt,
        {
          error: expect.objectContaining({
            status: 422,
            code: 'validation_failed',
            errors: [{ pointer: '/source_order_id', code: 'required', detail: expect.any(String) }],
          }),
        },
        rejection(400, 'malformed_body'),
        rejection(400, 'malformed_body'),
        rejection(413, 'payload_too_large'),
        rejection(400, 'malformed_body'),
        receipt,
      ],
    },
  });
  // Three receipts, one row with their bodies, and one outbox row.
  expect(await countStored(knex)).toBe(before + 3 + 1 + 1);
});

describe('a batch that is rejected whole stores nothing', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => order(`many ${index}`));
  const cases: [what: string, outcome: string, body: string | Buffer][] = [
    ['an empty body', '400 malformed_body', ''],
    ['no lines', '400 malformed_body', lines()],
    ['empty lines', '400 malformed_body', lines('', ' ', '\r', '')],
    ['an empty array', '400 malformed_body', ' [ ] '],
    ['an object', '400 malformed_body', order('alone')],
    ['lines called an array', '400 malformed_body', many(2).join('\n')],
    ['an array cut short', '400 malformed_body', `[${many(3).join(',')}`],
    [
      'an array with an element that is not JSON',
      '400 malformed_body',
      `[${order('good')},{"source_order_id":"bad",}]`,
    ],
    [
      'an array in which two distant orders each lack a quote',
      '400 malformed_body',
      `[${order('good')},{"source_order_id":"6" box"},${many(100).join(',')},{"source_order_id":"8" box"},${order('good')}]`,
    ],
    [
      'an array with an element that is too long to be parsed',
      '413 payload_too_large',
      `[${order('good')},"${'x'.repeat(8000)}"]`,
    ],
    ['an array with content after its end', '400 malformed_body', `[${order('good')}]]`],
    ['1,001 lines', '413 payload_too_large', lines(...many(1001))],
    ['1,001 elements', '413 payload_too_large', `[${many(1001).join(',')}]`],
    ['a body over its limit', '413 payload_too_large', Buffer.alloc(200_001, ' ')],
  ];

  test.each(cases)('%s: %s', async (_what, outcome, body) => {
    const before = await countStored(knex);
    const reply = await intake.api.batch(account, body);
    expect(`${reply.status} ${reply.body.code}`).toBe(outcome);
    expect(await countStored(knex)).toBe(before);
  });

  test.each<[string, string, Record<string, string>]>([
    ['another media type', '415 unsupported_media_type', { 'Content-Type': 'text/plain' }],
    ['another charset', '415 unsupported_media_type', { 'Content-Type': 'application/x-ndjson; charset=utf-16' }],
    ['a compressed body', '415 unsupported_content_encoding', { 'Content-Encoding': 'gzip' }],
    ['a bad idempotency key', '400 invalid_idempotency_key', { 'Idempotency-Key': 'a b' }],
    ['no key', '401 missing_api_key', { Authorization: '' }],
  ])('%s: %s', async (_what, outcome, headers) => {
    const before = await countStored(knex);
    const reply = await intake.api.batch(account, lines(order('good')), headers);
    expect(`${reply.status} ${reply.body.code}`).toBe(outcome);
    expect(await countStored(knex)).toBe(before);
  });

  test('a chunked batch without a length is rejected as soon as it exceeds the limit', async () => {
    const before = await countStored(knex);
    const line = `${order('again and again')}\n`;
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1;
        if (sent > 1000) controller.close();
        else controller.enqueue(Buffer.from(line.repeat(10)));
      },
    });
    const reply = await fetch(`${intake.api.url}/ingest/orders/batch`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/x-ndjson' },
      body: endless,
      duplex: 'half',
    } as RequestInit);
    expect(reply.status).toBe(413);
    expect(await countStored(knex)).toBe(before);
  });
});

describe('a batch at its limits is accepted', () => {
  const counts = ({ status, body }: { status: number; body: { accepted: number; refused: number } }) => [
    status,
    body.accepted,
    body.refused,
  ];

  test('with 1,000 orders, as lines and as an array', async () => {
    const orders = Array.from({ length: 1000 }, (_, index) => order(`thousand ${index}`));
    expect(counts(await intake.api.batch(account, lines(...orders)))).toEqual([202, 1000, 0]);
    expect(counts(await intake.api.batch(account, `[${orders.join(',\n')}]`))).toEqual([202, 1000, 0]);
  });

  test('with the maximum number of bytes, and with an order of the maximum length beside a longer one', async () => {
    const ofLength = (length: number) => `${'{"source_order_id":"x"'.padEnd(length - 1)}}`;
    expect(ofLength(2000)).toHaveLength(2000);
    const body = lines(ofLength(2000), ofLength(2001));
    const full = Buffer.concat([body, Buffer.alloc(200_000 - body.length, '\n')]);
    expect(counts(await intake.api.batch(account, full))).toEqual([202, 1, 1]);
  });

  test('with an array element four times as long as an order may be, beside another order', async () => {
    const long = JSON.stringify({ source_order_id: 'x'.repeat(8000 - 22) });
    expect(long).toHaveLength(8000);
    expect(counts(await intake.api.batch(account, `[${long},${order('beside')}]`))).toEqual([202, 1, 1]);
  });

  test('with a byte order mark, CRLF and no last line break, and its bodies are stored unchanged', async () => {
    const [first, second] = ['{ "source_order_id" : "as it came" }', '{"source_order_id":"دبي"}'];
    const { body } = await intake.api.batch(account, Buffer.from(`\ufeff${first}\r\n\r\n${second}`));
    expect(body).toMatchObject({ accepted: 2, refused: 0 });
    const [inArray] = (await intake.api.batch(account, `\ufeff [ ${first} ,${second}]`)).body.results;
    const bodyOf = async ({ receipt_id }: { receipt_id: string }) =>
      (await readBodies(knex, [receipt_id])).get(receipt_id)?.toString();
    expect(await bodyOf(body.results[0])).toBe(first);
    expect(await bodyOf(body.results[1])).toBe(second);
    expect(await bodyOf(inArray)).toBe(first);
  });

  test('an array element that is JSON but not an order is rejected alone', async () => {
    const bad = Buffer.from(`[${order('good')},7,null,"x",[],{"source_order_id":"\\u0000"},{"source_order_id":"`);
    const reply = await intake.api.batch(account, Buffer.concat([bad, Buffer.from([0xff]), Buffer.from('"}]')]), {
      'Content-Type': 'application/json',
    });
    expect(counts(reply)).toEqual([202, 1, 6]);
    expect(reply.body.results.slice(1).map((result: { error: { code: string } }) => result.error.code)).toEqual([
      ...Array(4).fill('malformed_body'),
      'validation_failed',
      'malformed_body',
    ]);
  });
});

test('strict handling applies to each order and lists its first 20 errors', async () => {
  const items = Array.from({ length: 30 }, () => ({ name: 'Soup', quantity: 0 }));
  const corrected = JSON.stringify({ source_order_id: 'corrected', items });
  const lenient = await intake.api.batch(account, lines(order('one'), corrected), { Prefer: 'handling=lenient' });
  expect(lenient.body).toMatchObject({ accepted: 2, refused: 0 });
  expect(lenient.headers['preference-applied']).toBe('handling=lenient');
  const strict = await intake.api.batch(account, lines(order('one'), corrected), { Prefer: 'handling=strict' });
  expect(strict.headers['preference-applied']).toBe('handling=strict');
  expect(strict.body).toMatchObject({ accepted: 1, refused: 1 });
  const { error } = strict.body.results[1];
  expect(error).toMatchObject({ status: 422, code: 'validation_failed' });
  expect(error.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(
    Array.from({ length: 20 }, (_, index) => `/items/${index}/quantity`),
  );
});

test('two orders with one source_order_id in a batch become one order and its duplicate', async () => {
  const sender = await stack.account();
  const twice = Array.from({ length: 40 }, (_, index) => order(`twice ${index % 20}`));
  const { body } = await intake.api.batch(sender, lines(...twice));
  const receiptIds: string[] = body.results.map((result: { receipt_id: string }) => result.receipt_id);
  expect(receiptIds).toEqual([...new Set(receiptIds)].toSorted((a, b) => (a < b ? -1 : 1)));
  const worker = await stack.worker();
  await expectSettled(stack, sender, {
    ...written(receiptIds.slice(0, 20)),
    ...Object.fromEntries(receiptIds.slice(20).map((receiptId) => [receiptId, 'duplicate'])),
  });
  await worker.close();
});

test('an order that Postgres rejects does not affect the other orders of its batch', async () => {
  await knex.raw(`
    create function reject_receipt() returns trigger language plpgsql as
    $$ begin raise exception 'rejected' using errcode = '23514'; end $$;
    create trigger reject_receipt before insert on receipts for each row
    when (new.source_order_id = 'untakeable') execute function reject_receipt()`);
  const { status, body } = await intake.api.batch(account, lines(order('a'), order('untakeable'), order('b')));
  await knex.raw('drop trigger reject_receipt on receipts');
  expect({ status, body }).toEqual({
    status: 202,
    body: { accepted: 2, refused: 1, mismatched: 0, results: [receipt, rejection(500, 'internal_error'), receipt] },
  });
});

test('the first ten rejected orders of a batch are listed among the rejected deliveries', async () => {
  const sender = await stack.account();
  const bad = Array.from({ length: 30 }, () => '{"source_order_id":"x",}');
  await intake.api.batch(sender, lines(order('good'), ...bad));
  const rows = await until('ten rejections are listed', async () => {
    const found = await listRejected(db, sender.id, 100);
    return found.length >= 10 && found;
  });
  expect(rows).toHaveLength(10);
  for (const row of rows) {
    expect(row).toMatchObject({ code: 'malformed_body', diagnosis: 'trailing_comma', channel: 'rest', body_bytes: 24 });
  }
});

test('a batch that is rejected whole is listed as one rejected delivery', async () => {
  const sender = await stack.account();
  await intake.api.batch(sender, `[${order('good')},]`);
  const [row] = await until('it is there', async () => {
    const found = await listRejected(db, sender.id, 100);
    return found.length > 0 && found;
  });
  expect(row).toMatchObject({ code: 'malformed_body', diagnosis: 'whole_batch' });
});

test('metrics count orders and requests, and the log line names no order and no receipt', async () => {
  const own = await stack.intake();
  const { body } = await own.api.batch(account, lines(order('counted 1'), order('counted 2'), '{}'));
  const line = await until('it is logged', async () =>
    own.log.lines.find(({ route }) => route === '/ingest/orders/batch'),
  );
  expect(line).toMatchObject({ status: 202, orders: 3, refused: 1, account_id: account.id });
  expect(line).not.toHaveProperty('receipt_id');
  expect(own.log.text()).not.toContain(body.results[0].receipt_id);
  expect(own.log.text()).not.toContain('counted');
  const metrics = await readMetrics(own.adminUrl);
  expect(gaugeOf(metrics, 'intake_receipts_total', { outcome: 'accepted' })).toBe(2);
  expect(gaugeOf(metrics, 'intake_batch_orders_rejected_total', { code: 'validation_failed' })).toBe(1);
  expect(gaugeOf(metrics, 'intake_requests_total', { route: '/ingest/orders/batch', status: '202', code: '' })).toBe(1);
  expect(gaugeOf(metrics, 'intake_batches_in_flight')).toBe(0);
});
