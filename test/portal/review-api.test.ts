import { beforeAll, describe, expect, test } from '@jest/globals';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import { codeOf, type Reply } from '../harness/api.ts';
import { below, createPerson, openPortalClient, openShop, type Shop, signIn } from '../harness/people.ts';
import { insertOrder } from '../harness/review-list.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, api, worker, portal } = useStack({ intake: true, worker: true, portal: true });

const insert = (shop: Shop, columns?: Record<string, unknown>) => insertOrder(knex, shop.account.id, columns);
const idsOf = ({ status, body }: Reply): number[] => {
  expect(status).toBe(200);
  return body.orders.map(({ order_id }: { order_id: number }) => order_id);
};
/** The new orders of a poll. */
const newOf = (reply: Reply): Reply => ({ ...reply, body: reply.body.new });

/** Reads all pages of a list. `between` runs after each page. */
async function allPages(shop: Shop, query: string, between: () => Promise<unknown> = async () => {}) {
  const ids: number[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < 100; pages += 1) {
    const reply: Reply = await shop.get(`/orders?${query}${cursor && `&cursor=${cursor}`}`);
    ids.push(...idsOf(reply));
    cursor = reply.body.next_cursor;
    await between();
  }
  return ids;
}

describe('the list', () => {
  let asker: Shop | undefined;

  test('shows an order as it was sent, with the unchanged payload', async () => {
    const shop = await openShop(stack, portal);
    const payload = `{ "source_order_id": "raw-1", "customer": "محمد 0501234567", "total": "AED 99" }`;
    const sent = await api.order(shop.account, payload);
    const { body } = await api.final(shop.account, sent.body.receipt_id);
    const list = await shop.get('/orders');
    expect(list.body.next_cursor).toBeNull();
    const [order] = list.body.orders;
    expect(order).toMatchObject({
      order_id: body.order_id,
      receipt_id: body.receipt_id,
      customer: { phone: '+971501234567' },
      total: '99',
      review_state: 'needs_review',
    });
    const shown = await shop.get(`/orders/${body.order_id}`);
    expect([shown.status, shown.body]).toEqual([
      200,
      {
        order: {
          ...order,
          items: [],
          warnings: [
            {
              pointer: '/customer',
              code: 'customer_as_text',
              detail: 'A string instead of an object; kept as the name, and searched for a phone number.',
              severity: 'check',
            },
          ],
        },
        review: { state: 'needs_review', by: null, at: null, reason: null, undo_until: null },
        raw: { text: payload },
        delivery: null,
        notes: [],
        similar: [],
        earlier: null,
        history: [],
        erased_at: null,
        resends: [],
        hold_resends: false,
        cancellation: null,
        print: null,
      },
    ]);
  });

  test('shows an order without its payload after the retention', async () => {
    const shop = await openShop(stack, portal);
    const { body } = await shop.get(`/orders/${await insert(shop)}`);
    expect(body.raw).toBeNull();
  });

  test('has every order once in its pages, newest first, while orders arrive', async () => {
    const shop = await openShop(stack, portal);
    const ids: number[] = [];
    for (let n = 0; n < 45; n += 1) ids.push(await insert(shop));
    const seen = await allPages(shop, 'limit=10', () => insert(shop));
    expect(seen).toEqual(ids.toReversed());
    expect(idsOf(await shop.get('/orders?limit=200'))).toHaveLength(50);
  });

  test('finds a rare order behind more orders than one request scans, with pages that may be empty', async () => {
    const shop = await openShop(stack, portal);
    const oldest = await insert(shop, { channel: 'webhook', customer_name: 'Rare', review_state: 'confirmed' });
    // Also at the limits of one request's scan.
    const places = [200, 201, 500, 501, 502, 2000, 2001, 2002, 5500, 5501, 5502, 12_000, 12_001, 12_002];
    const { rows } = await knex.raw(
      `insert into orders (account_id, source_order_id, order_number, channel, customer_name, receipt_id, items, warnings, severity, currency,
                           review_state, received_at)
       select ?, 'x' || i, 'x', case when 13001 - i = any(?::int[]) then 'webhook' else 'rest' end,
              case when 13001 - i = any(?::int[]) then 'Rare' end, gen_random_uuid(), '[]', '[]', 'blocks', 'AED', 'confirmed', now()
       from generate_series(1, 13000) as i order by i
       returning order_id, channel`,
      [shop.account.id, places, places],
    );
    const rare = rows.filter(({ channel }: { channel: string }) => channel === 'webhook');
    const expected = [oldest, ...rare.map(({ order_id }: { order_id: number }) => order_id)].toReversed();
    expect(await allPages(shop, 'state=confirmed&channel=webhook')).toEqual(expected);
    expect(await allPages(shop, 'state=confirmed&q=rare')).toEqual(expected);
    expect(await allPages(shop, 'state=confirmed&q=rare&limit=5')).toEqual(expected);
    expect(await allPages(shop, 'state=confirmed&q=nobody')).toEqual([]);
  });

  test('has separate lists of confirmed and rejected orders', async () => {
    const shop = await openShop(stack, portal);
    const [waiting, confirmed, rejected] = [await insert(shop), await insert(shop), await insert(shop)];
    await shop.post('/orders/review', { order_ids: [confirmed], to: 'confirmed' });
    await shop.post('/orders/review', { order_ids: [rejected], to: 'rejected', reason: 'twice' });
    expect(idsOf(await shop.get('/orders'))).toEqual([waiting]);
    expect(idsOf(await shop.get('/orders?state=confirmed'))).toEqual([confirmed]);
    expect(idsOf(await shop.get('/orders?state=rejected'))).toEqual([rejected]);
  });

  test('counts orders that need review', async () => {
    const shop = await openShop(stack, portal);
    const [id] = [await insert(shop), await insert(shop)];
    await shop.post('/orders/review', { order_ids: [id], to: 'confirmed' });
    expect((await shop.get('/orders/updates?after=0')).body.counts).toEqual({
      needs_review: 1,
      capped: false,
      awaiting_payment: false,
    });
  });

  test.each([
    ['state=lost'],
    ['limit=0'],
    ['limit=201'],
    ['cursor=x'],
    ['emirate=AE-XX'],
    ['severity=maybe'],
    ['mark=maybe'],
    ['warnings=yes'],
    ['similar=no'],
    ['written_after=yesterday'],
    ['q=a&q=b'],
    ['sort=name'],
    ['sort=total&cursor=x'],
    ['sort=total&cursor=x,1'],
    ['sort=total&cursor=1'],
    ['cursor=1,1'],
    [`q=${'x'.repeat(201)}`],
  ])('rejects %s', async (query) => {
    asker ??= await openShop(stack, portal);
    expect(codeOf(await asker.get(`/orders?${query}`))).toEqual([422, 'invalid_request']);
  });
});

describe('new orders', () => {
  test('are those since the last request, and those that were committed late', async () => {
    const shop = await openShop(stack, portal);
    const old = await insert(shop, { written_at: new Date(Date.now() - 60_000) });
    const { body } = await shop.get(`/orders/updates?after=${old}`);
    expect(body.new).toEqual({ orders: [], more: false });
    const trx = await knex.transaction();
    const late = await insertOrder(trx, shop.account.id);
    const quick = await insert(shop);
    expect(idsOf(newOf(await shop.get(`/orders/updates?after=${old}`)))).toEqual([quick]);
    await trx.commit();
    expect(idsOf(newOf(await shop.get(`/orders/updates?after=${quick}`)))).toEqual([quick, late]);
  });

  test('obey the same filter, and the reply says if there are more', async () => {
    const shop = await openShop(stack, portal);
    for (let n = 0; n < 52; n += 1) await insert(shop, { channel: n < 51 ? 'rest' : 'webhook' });
    const all = newOf(await shop.get('/orders/updates?after=0'));
    expect([idsOf(all).length, all.body.more]).toEqual([50, true]);
    const rare = newOf(await shop.get('/orders/updates?after=0&channel=webhook'));
    expect([idsOf(rare).length, rare.body.more]).toEqual([1, false]);
  });
});

describe('filters and search', () => {
  let shop: Shop;
  const ids: Record<string, number> = {};
  const logFields = (reply: Reply) => {
    const found = idsOf(reply);
    return Object.keys(ids).filter((name) => found.includes(ids[name] as number));
  };

  beforeAll(async () => {
    shop = await openShop(stack, portal);
    const warning = '[{"pointer":"/total","code":"total_unreadable","detail":"x"}]';
    const deliverable = { address: 'Apt 4', items: '[{"name":"Karak","quantity":1,"sku":null}]' };
    const [dubai, sharjah] = [
      { emirate_code: 'AE-DU', ...deliverable },
      { emirate_code: 'AE-SH', ...deliverable },
    ];
    ids.aisha = await insert(shop, {
      ...dubai,
      source_order_id: 'SHOP-2026-001042',
      source_number: 7,
      is_test: true,
      payment_state: 'paid',
      customer_email: 'Aisha.M@Example.com',
      customer_id: 'CUST-88',
      address: 'Villa 12-A, Al-Barsha South (near the mosque)',
      area: 'البرشاء ١',
      items: '[{"name":"Chicken Shawarma","quantity":31,"sku":"SW-9/L"},{"name":"كرك","quantity":1,"sku":null}]',
      customer_name: 'Aisha Al-Mansoori',
      customer_phone: '+971501234567',
      written_at: '2026-01-01T00:00:00Z',
    });
    ids.mohammed = await insert(shop, {
      ...sharjah,
      source_order_id: "a'b\\c:*|&",
      order_number: '#1043',
      channel: 'webhook',
      customer_name: 'محمد أحمد الهاشمي',
      customer_phone: '+97143334567 ext. 12',
      written_at: '2026-02-01T00:00:00Z',
    });
    ids.fatima = await insert(shop, {
      warnings: warning,
      source_order_id: '9f1b7b5e-2d0e-4a7e-9d58-3a2f7d6c1e11',
      customer_name: 'فاطمة',
      customer_phone: 'call the guard',
      written_at: '2026-03-01T00:00:00Z',
    });
    ids.john = await insert(shop, {
      ...dubai,
      warnings: warning,
      channel: 'webhook',
      source_order_id: '1044',
      delivery_method: 'pickup',
      payment_state: 'unpaid',
      customer_name: 'JOHN  Ó Briain',
      customer_phone: '+442071234567',
      written_at: '2026-04-01T00:00:00Z',
    });
    ids.bare = await insert(shop, { source_order_id: ' ', written_at: '2026-05-01T00:00:00Z' });
  });

  test.each([
    ['', ['aisha', 'mohammed', 'fatima', 'john', 'bare']],
    ['channel=webhook', ['mohammed', 'john']],
    ['emirate=AE-DU', ['aisha', 'john']],
    ['emirate=none', ['fatima', 'bare']],
    ['severity=blocks', ['fatima', 'bare']],
    ['severity=check', ['john']],
    ['severity=corrected', []],
    ['severity=none', ['aisha', 'mohammed']],
    ['mark=test', ['aisha']],
    ['mark=pickup', ['john']],
    ['mark=paid', ['aisha']],
    ['mark=unpaid&channel=webhook', ['john']],
    ['mark=refunded', []],
    ['source=7', ['aisha']],
    ['source=8', []],
    ['source=7&severity=none', ['aisha']],
    ['source=7&severity=check', []],
    ['channel=webhook&emirate=AE-DU&severity=check', ['john']],
    ['channel=rest&severity=check&emirate=AE-DU', []],
    ['written_after=2026-03-01T00:00:00Z', ['fatima', 'john', 'bare']],
    ['written_before=2026-03-01T00:00:00Z', ['aisha', 'mohammed']],
    ['written_after=2026-02-01T00:00:00Z&written_before=2026-03-01T00:00:01Z', ['mohammed', 'fatima']],
    ['written_after=2027-01-01T00:00:00Z', []],
    ['written_before=2020-01-01T00:00:00Z', []],
  ])('%s', async (query, names) => {
    expect(logFields(await shop.get(`/orders?${query}`))).toEqual(names);
  });

  test.each([
    ['aisha', ['aisha']],
    ['AISHA', ['aisha']],
    ['al-mansoori', ['aisha']],
    ['mansoori aisha', ['aisha']],
    ['aisha john', []],
    ['aisha.m@example', ['aisha']],
    ['example.com', ['aisha']],
    ['cust-88', ['aisha']],
    ['al barsha', ['aisha']],
    ['al-barsha south', ['aisha']],
    ['برشاء 1', ['aisha']],
    ['mosque villa', ['aisha']],
    ['12-a', ['aisha']],
    ['12-b', []],
    // Not villa A and id 88.
    ['a-88', []],
    ['2026-001042', ['aisha']],
    ['shawarma كرك', ['aisha']],
    ['sw-9', ['aisha']],
    // A quantity is no word.
    ['31', []],
    ['ais', ['aisha']],
    ['isha', []],
    ['محمد', ['mohammed']],
    ['الهاشمي', ['mohammed']],
    ['هاشمي احمد', ['mohammed']],
    ['فاطمه', ['fatima']],
    ['john  Ó br', ['john']],
    ['SHOP-2026-001042', ['aisha']],
    ['shop-2026', ['aisha']],
    ['001042', ['aisha']],
    ['#1043', ['mohammed']],
    ['#104', ['mohammed', 'john']],
    ['104', ['mohammed', 'john']],
    ["a'b\\c:*|&", ['mohammed']],
    ['9f1b7b5e-2d0e', ['fatima']],
    ['050 123 4567', ['aisha']],
    ['0501234567', ['aisha']],
    ['+971 50 123 4567', ['aisha']],
    ['(050) 123-4567', ['aisha']],
    ['٠٥٠١٢٣٤٥٦٧', ['aisha']],
    ['00971501234567', ['aisha']],
    ['4567', ['aisha', 'mohammed', 'john']],
    ['1234567', ['aisha', 'john']],
    ['020 7123 4567', ['john']],
    ['0433 34567', ['mohammed']],
    ['aisha 050 123 4567', ['aisha']],
    ['john 050 123 4567', []],
    ['567', []],
    [' \u0000 ', ['aisha', 'mohammed', 'fatima', 'john', 'bare']],
    ['\ufffd', []],
    ['=rest,none', []],
    ["'", []],
    ['\\', []],
  ])('search: %s', async (words, names) => {
    const q = encodeURIComponent(words);
    expect(logFields(await shop.get(`/orders?q=${q}`))).toEqual(names);
    expect(logFields(newOf(await shop.get(`/orders/updates?after=0&q=${q}`)))).toEqual(names);
  });

  const searchForEach = async () => {
    for (const [query, names] of [
      [`q=${encodeURIComponent('050 123 4567')}`, ['aisha']],
      [`q=${encodeURIComponent('هاشمي احمد')}`, ['mohammed']],
      ['q=SHOP-2026-001042', ['aisha']],
      ['q=4567&channel=webhook&emirate=AE-DU&severity=check', ['john']],
      ['severity=check', ['john']],
      ['mark=test', ['aisha']],
      ['mark=unpaid&severity=check', ['john']],
      ['mark=pickup&source=7', []],
      ['source=7', ['aisha']],
      ['source=7&q=barsha&severity=none', ['aisha']],
      ['source=7&channel=webhook', []],
      ['severity=none&sort=oldest', ['aisha', 'mohammed']],
      ['channel=webhook', ['mohammed', 'john']],
      ['q=9f1b&severity=blocks', ['fatima']],
      ['q=104&written_before=2026-03-01T00:00:00Z', ['mohammed']],
      ['q=absent', []],
    ] as const) {
      const reply = await shop.get(`/orders?${query}`);
      expect([query, logFields(reply), reply.body.next_cursor]).toEqual([query, names, null]);
    }
  };

  test('the search index finds the same orders as a scan of the list', async () => {
    await knex.raw(
      `insert into orders (account_id, source_order_id, order_number, channel, receipt_id, items, warnings, severity, currency, received_at)
       select ?, 'many' || i, 'many', 'rest', gen_random_uuid(), '[]', '[]', 'blocks', 'AED', now() from generate_series(1, 1150) as i`,
      [shop.account.id],
    );
    await searchForEach();
    await knex('orders')
      .where({ account_id: shop.account.id, order_number: 'many' })
      .update({ written_at: new Date(0) });
    // The worker would create them later.
    await worker.close();
    while ((await fillSearchTerms(connectionOf(knex))) > 0);
    expect((await knex('order_words').where({ account_id: shop.account.id })).length).toBeGreaterThan(1150);
    await searchForEach();
    // A one-letter search with a cursor returns the newest matches below the cursor.
    const [first] = idsOf(await shop.get('/orders?q=many&limit=1'));
    const next = await shop.get(`/orders?q=many&limit=1&cursor=${first}`);
    expect(idsOf(next)).toEqual([(first as number) - 1]);
  });

  test('no log line contains a search or a found value', async () => {
    await shop.get(`/orders?q=${encodeURIComponent('mansoori 0501234567')}`);
    const text = portal.log.text();
    expect(text).toContain('"route":"/orders"');
    expect(text).not.toMatch(/mansoori|1234567/i);
  });

  test('no search and no filter finds an order of another account', async () => {
    const other = await openShop(stack, portal);
    const mine = await insert(other, { customer_name: 'Aisha' });
    expect(idsOf(await other.get('/orders?q=aisha'))).toEqual([mine]);
    expect(idsOf(await other.get('/orders?q=4567'))).toEqual([]);
    expect(idsOf(await other.get('/orders?channel=webhook'))).toEqual([]);
  });
});

describe('for everybody else an order does not exist', () => {
  const routes = (id: number): [string, string, object?][] => [
    ['get', `/orders/${id}`],
    ['patch', `/orders/${id}`, { edits: { '/area': 'Marina' } }],
    ['post', '/orders/review', { order_ids: [id], to: 'confirmed' }],
    ['post', '/orders/review', { order_ids: [id], to: 'rejected', reason: 'no' }],
    ['post', '/orders/review', { order_ids: [id], to: 'needs_review' }],
    ['post', '/orders/review/undo', { order_ids: [id] }],
  ];
  type Ask = (path: string, body?: object) => Promise<Reply>;

  test('below the own account', async () => {
    const [mine, theirs] = [await openShop(stack, portal), await openShop(stack, portal)];
    const id = await insert(theirs);
    const untouched = await theirs.get(`/orders/${id}`);
    for (const unknown of [id, 999_999_999]) {
      for (const [verb, path, body] of routes(unknown)) {
        const ask = mine[verb as 'get'] as Ask;
        expect([verb, path, ...codeOf(await ask(path, body))]).toEqual([verb, path, 404, 'order_not_found']);
      }
    }
    const own = await insert(mine);
    expect(codeOf(await mine.post('/orders/review', { order_ids: [own, id], to: 'confirmed' }))[0]).toBe(404);
    expect((await mine.get(`/orders/${own}`)).body.order.review_state).toBe('needs_review');
    expect(await theirs.get(`/orders/${id}`)).toMatchObject({ body: untouched.body });
    expect(await knex('audit_events').where({ subject: `order:${id}` })).toEqual([]);
    expect(idsOf(await mine.get('/orders'))).toEqual([own]);
    const updates = await mine.get('/orders/updates?after=0');
    expect([idsOf(newOf(updates)), updates.body.counts.needs_review]).toEqual([[own], 1]);
  });

  test('in one search of all states', async () => {
    const [mine, theirs] = [await openShop(stack, portal), await openShop(stack, portal)];
    await insert(theirs, { customer_name: 'Noura Saif' });
    await insert(mine, { customer_name: 'Omar' });
    const waiting = await insert(mine, { customer_name: 'Noura Saif', area: 'Mirdif' });
    const confirmed: number[] = [];
    for (let number = 0; number < 101; number += 1)
      confirmed.unshift(
        await insert(mine, { customer_name: 'Noura Ali', review_state: 'confirmed', reviewed_at: new Date(0) }),
      );
    const search = async (query: string) => {
      const { status, body } = await mine.get(`/orders/search?${query}`);
      expect(status).toBe(200);
      return body.states.map(
        ({ state, count, is_more, orders }: { orders: { order_id: number }[] } & Record<string, unknown>) => [
          ...[state, count, is_more],
          orders.map(({ order_id }) => order_id),
        ],
      );
    };
    expect(await search('q=noura&limit=2')).toEqual([
      ['needs_review', 1, false, [waiting]],
      ['awaiting_payment', 0, false, []],
      ['confirmed', 99, true, confirmed.slice(0, 2)],
      ['rejected', 0, false, []],
      ['cancelled', 0, false, []],
    ]);
    expect((await search('q=mirdif noura')).map(([, count]: unknown[]) => count)).toEqual([1, 0, 0, 0, 0]);
    expect((await search('mark=pickup')).map(([, count]: unknown[]) => count)).toEqual([0, 0, 0, 0, 0]);
    expect(codeOf(await mine.get('/orders/search?limit=21'))).toEqual([422, 'invalid_request']);
  });

  test('below the account of its holder', async () => {
    const [mine, theirs] = [await openShop(stack, portal), await openShop(stack, portal)];
    const id = await insert(theirs);
    const asked = below(mine.client, theirs.account.id);
    const lists: [string, string][] = ['/orders', '/orders/updates?after=0', '/orders/ids', '/orders/search?q=a'].map(
      (path) => ['get', path],
    );
    for (const [verb, path, body] of [...lists, ...routes(id)] as [string, string, object?][]) {
      const ask = asked[verb as 'get'] as Ask;
      expect([verb, path, ...codeOf(await ask(path, body))]).toEqual([verb, path, 404, 'account_not_found']);
      const stranger = below(openPortalClient(portal), theirs.account.id)[verb as 'get'] as Ask;
      expect(codeOf(await stranger(path, body))).toEqual([401, 'not_signed_in']);
    }
  });

  test('an operator sees every account', async () => {
    const shop = await openShop(stack, portal);
    const id = await insert(shop);
    const operator = await createPerson(stack, null);
    const asked = below(await signIn(portal, operator), shop.account.id);
    await asked.post('/orders/review', { order_ids: [id], to: 'confirmed' });
    const { body } = await shop.get(`/orders/${id}`);
    expect([body.review.by, body.history[0].by]).toEqual([operator.email, operator.email]);
  });
});
