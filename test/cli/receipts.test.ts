import { beforeAll, describe, expect, test } from '@jest/globals';
import { useCli } from './run.ts';
import { newReceiptId, openSeed, type Seed } from './seed.ts';

const cli = useCli();
let seed: Seed;
let kitchen: number;
let market: number;

beforeAll(async () => {
  seed = openSeed(cli.url);
  kitchen = (await cli.json('accounts', 'create', 'Kitchen')).account_id;
  market = (await cli.json('accounts', 'create', 'Market')).account_id;
});

/** Sorts by id, as the order within a millisecond is random. */
const oldestFirst = (ids: string[]) => ids.toSorted((a, b) => (a < b ? -1 : 1));
const idsOf = (receipts: { receipt_id: string }[]) => receipts.map(({ receipt_id }) => receipt_id);

describe('list', () => {
  test('newest first, by account, state and limit', async () => {
    const first = await seed.received(kitchen, { source_order_id: 'list-1' });
    const dead = await seed.dead(kitchen, 'list-2');
    const foreign = await seed.received(market, { source_order_id: 'list-1' });
    const all = await cli.json('receipts', 'list');
    expect(idsOf(all)).toEqual(oldestFirst([foreign, dead, first]).toReversed());
    expect(idsOf(await cli.json('receipts', 'list', '--account', 'Market'))).toEqual([foreign]);
    expect(idsOf(await cli.json('receipts', 'list', '--state', 'dead', '--account', String(kitchen)))).toEqual([dead]);
    expect(await cli.json('receipts', 'list', '--limit', '1')).toEqual(all.slice(0, 1));
    expect(Object.keys(all[0])).toEqual([
      'receipt_id',
      'account_id',
      'status',
      'order_id',
      'channel',
      'source_order_id',
      'received_at',
      'updated_at',
      'attempts',
      'next_attempt_at',
      'warnings',
      'error',
      'duplicate_of',
      'outdated',
      'order_state',
      'source',
      'changes',
    ]);
    const { stdout } = await cli.run('receipts', 'list');
    expect(stdout.split('\n')[0]).toMatch(/^RECEIPT +ACCOUNT +STATE +SOURCE ORDER +RECEIVED$/);
    expect(stdout).toContain(foreign);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  test('nothing found is an empty list, and no failure', async () => {
    expect(await cli.json('receipts', 'list', '--account', 'Market', '--state', 'written')).toEqual([]);
    expect((await cli.run('receipts', 'list', '--state', 'normalized')).stdout).toBe('There are no such receipts.\n');
  });

  test.each([
    ['--limit', '0'],
    ['--limit', 'ten'],
    ['--limit', '99999999999999999999'],
    ['--state', 'lost'],
  ])('%s %s is a usage error', async (...options) => {
    expect(await cli.refused(2, 'receipts', 'list', ...options)).toContain(options[0]);
  });

  test('50 unless told otherwise', async () => {
    const { account_id } = await cli.json('accounts', 'create', 'Busy');
    for (let n = 0; n < 51; n++) await seed.received(account_id, { source_order_id: `busy-${n}` });
    expect(await cli.json('receipts', 'list', '--account', 'Busy')).toHaveLength(50);
    expect(await cli.json('receipts', 'list', '--account', 'Busy', '--limit', '60')).toHaveLength(51);
  });
});

describe('show', () => {
  test('a written one, with its payload as received', async () => {
    const order = { source_order_id: 'show-1', customer: { name: 'Aisha' }, colour: 'red' };
    const { receiptId, orderId } = await seed.written(kitchen, order);
    const receipt = await cli.json('receipts', 'show', receiptId.toUpperCase());
    expect(receipt).toMatchObject({
      receipt_id: receiptId,
      account_id: kitchen,
      status: 'written',
      order_id: orderId,
      channel: 'rest',
      source_order_id: 'show-1',
      attempts: 1,
      next_attempt_at: null,
      warnings: [{ pointer: '/colour', code: 'unknown_field', detail: expect.any(String) }],
      error: null,
      duplicate_of: null,
      normalized_at: expect.any(String),
      history: [],
      payload: JSON.stringify(order),
    });
    const { stdout } = await cli.run('receipts', 'show', receiptId);
    expect(stdout).toMatch(/^state +written$/m);
    expect(stdout).toMatch(/^warnings +\/colour unknown_field: /m);
    expect(stdout).toContain(`payload\n${JSON.stringify(order)}\n`);
  });

  test('a duplicate names its original', async () => {
    const original = await seed.written(kitchen, { source_order_id: 'show-2' });
    const { receiptId } = await seed.written(kitchen, { source_order_id: 'show-2' });
    expect(await cli.json('receipts', 'show', receiptId)).toMatchObject({
      status: 'duplicate',
      order_id: null,
      duplicate_of: { receipt_id: original.receiptId, order_id: original.orderId },
    });
    expect((await cli.run('receipts', 'show', receiptId)).stdout).toContain(`order ${original.orderId}, receipt`);
  });

  test('shows the pointers of a duplicate’s changes, and no values', async () => {
    const customer = { phone: '0501234567' };
    await seed.written(kitchen, { source_order_id: 'show-4', customer });
    const { receiptId } = await seed.written(kitchen, {
      source_order_id: 'show-4',
      customer: { phone: null },
      area: 'Deira',
    });
    const { changes } = await cli.json('receipts', 'show', receiptId);
    expect(changes).toContainEqual({ pointer: '/customer/phone' });
    for (const change of changes) expect(Object.keys(change)).toEqual(['pointer']);
    const { stdout } = await cli.run('receipts', 'show', receiptId);
    expect(stdout).toMatch(/^changes +\/customer\/phone$/m);
    expect(stdout).not.toContain('501234567');
  });

  test('a failed one says why and when it is tried again', async () => {
    const id = await seed.failed(kitchen, 'show-3');
    expect(await cli.json('receipts', 'show', id)).toMatchObject({
      status: 'failed',
      attempts: 1,
      next_attempt_at: expect.any(String),
      error: { code: 'write_refused', detail: expect.stringContaining('could not be written') },
      history: [{ attempt: 1, code: 'write_refused', sqlstate: '23514', constraint: 'made_by_test' }],
    });
    const { stdout } = await cli.run('receipts', 'show', id);
    expect(stdout).toMatch(/^history .*code=write_refused/m);
    expect(stdout).toMatch(/^next attempt +\d/m);
  });

  test('bytes that are not UTF-8 come as base64; a byte order mark stays', async () => {
    const raw = await seed.received(kitchen, Buffer.from([0x7b, 0xff, 0x7d]));
    const receipt = await cli.json('receipts', 'show', raw);
    expect(receipt).toMatchObject({ payload_base64: 'e/99' });
    expect(receipt).not.toHaveProperty('payload');
    expect((await cli.run('receipts', 'show', raw)).stdout).toContain('e/99');
    const marked = await seed.received(kitchen, Buffer.from('\ufeff{}'));
    expect(await cli.json('receipts', 'show', marked)).toMatchObject({ payload: '\ufeff{}' });
  });

  test('an unknown one fails; what is no UUID is a usage error', async () => {
    expect(await cli.refused(1, 'receipts', 'show', newReceiptId())).toContain('There is no receipt');
    for (const id of ['12', `${newReceiptId()}0`, `{${newReceiptId()}}`, "'; drop table receipts"])
      expect(await cli.refused(2, 'receipts', 'show', id)).toContain('A receipt id is a UUID');
  });
});

describe('redrive', () => {
  test('a dead one is processed again, and the sweeper is notified', async () => {
    const id = await seed.dead(kitchen, 'redrive-1');
    expect(await cli.json('receipts', 'redrive', id, '--by', 'Mona')).toMatchObject({
      receipt_id: id,
      status: 'received',
      attempts: 0,
      error: null,
    });
    expect(await cli.json('receipts', 'show', id)).toMatchObject({
      history: [{ attempt: 1 }, { redriven_at: expect.any(String) }],
    });
    expect(await cli.knex('audit_events').where({ subject: `receipt:${id}` })).toMatchObject([
      { account_id: kitchen, actor: 'Mona', action: 'receipt_redriven' },
    ]);
    const due = cli.knex('outbox').whereRaw('? = any(receipt_ids) and due_at <= now()', [id]);
    expect(await due).toHaveLength(1);
    expect(await cli.refused(1, 'receipts', 'redrive', id)).toBe(
      `Receipt ${id} is received; only one that is dead can be redriven.`,
    );
  });

  test('refuses a receipt that is not dead', async () => {
    const { receiptId } = await seed.written(kitchen, { source_order_id: 'redrive-2' });
    for (const id of [receiptId, await seed.failed(kitchen, 'redrive-3')]) {
      const before = await cli.json('receipts', 'show', id);
      expect(await cli.refused(1, 'receipts', 'redrive', id)).toContain('only one that is dead');
      expect(await cli.json('receipts', 'show', id)).toEqual(before);
    }
    expect(await cli.refused(1, 'receipts', 'redrive', newReceiptId())).toContain('There is no receipt');
  });

  test('--all-dead, of one account or of all', async () => {
    await cli.json('receipts', 'redrive', '--all-dead');
    const mine = await seed.dead(kitchen, 'redrive-4');
    const theirs = oldestFirst([await seed.dead(market, 'redrive-5'), await seed.dead(market, 'redrive-6')]);
    expect(await cli.json('receipts', 'redrive', '--all-dead', '--account', 'Market')).toEqual({ receipt_ids: theirs });
    expect(idsOf(await cli.json('receipts', 'list', '--state', 'dead'))).toEqual([mine]);
    expect((await cli.run('receipts', 'redrive', '--all-dead')).stdout).toContain('1 receipt redriven');
    expect(await cli.json('receipts', 'redrive', '--all-dead')).toEqual({ receipt_ids: [] });
  });

  test('--all-dead and the list leave out test accounts, unless one is asked for', async () => {
    const tests = String((await cli.json('accounts', 'test', 'Market')).account_id);
    const id = await seed.dead(Number(tests), 'redrive-7');
    for (const state of [['--state', 'dead'], []])
      expect(idsOf(await cli.json('receipts', 'list', ...state))).not.toContain(id);
    expect(idsOf(await cli.json('receipts', 'list', '--account', tests))).toEqual([id]);
    expect(await cli.json('receipts', 'redrive', '--all-dead')).toEqual({ receipt_ids: [] });
    expect(await cli.json('receipts', 'redrive', '--all-dead', '--account', tests)).toEqual({ receipt_ids: [id] });
  });

  test.each([
    ['neither an id nor --all-dead', []],
    ['both', [newReceiptId(), '--all-dead']],
    ['an account without --all-dead', [newReceiptId(), '--account', 'Market']],
    ['no UUID', ['7']],
  ])('%s is a usage error', async (_, words) => {
    await cli.refused(2, 'receipts', 'redrive', ...words);
  });
});
