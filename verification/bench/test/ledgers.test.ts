import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createDeliveryLedger } from '../src/faults/endpoint-receiver.ts';
import { createFindings } from '../src/faults/findings.ts';
import {
  type CancelReply,
  createCancellationLedger,
  createEventLedger,
  type FeedEvent,
  type FeedPage,
} from '../src/faults/ledger.ts';

function event(sequence: number, more: Partial<FeedEvent> = {}): FeedEvent {
  const data = { sequence, receipt_id: `receipt-${sequence}`, source_order_id: 'order-1', order_id: 7 };
  return { id: `evt_${sequence}`, type: 'receipt.written', data, ...more };
}

describe('deliveries to an endpoint', () => {
  const [SECRET, OTHER_SECRET] = ['first', 'other'].map(
    (text) => `whsec_${Buffer.from(text.repeat(8)).toString('base64')}`,
  );

  function headersOf(id: string, text: string, secret = SECRET as string): Record<string, string> {
    const at = new Date();
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, text),
    };
  }

  function setUp() {
    const findings = createFindings();
    const ledger = createDeliveryLedger({ accountId: 1, secret: SECRET as string, findings });
    const receive = (id: string, text: string) => ledger.enter(headersOf(id, text), text);
    return {
      ledger,
      receive,
      deliver: (delivered: FeedEvent) => receive(delivered.id, JSON.stringify(delivered))(),
      found: (feed: FeedEvent[]) =>
        [...findings.takeNew(), ...ledger.compare(ledger.receivedIds(), feed)].map(({ name, id }) => `${name} ${id}`),
    };
  }

  test('events that were delivered once, twice or in another order hold', () => {
    const { ledger, deliver, found } = setUp();
    for (const sequence of [2, 1, 2]) deliver(event(sequence));
    expect([ledger.findMissing([event(1), event(2)]), found([event(1), event(2)])]).toEqual([[], []]);
  });

  test('an event is missing until a request with it gets a 2xx reply', () => {
    const { ledger, receive, deliver, found } = setUp();
    deliver(event(1));
    const accept = receive('evt_2', JSON.stringify(event(2)));
    const feed = [event(1), event(2), event(3)];
    expect(ledger.findMissing(feed)).toEqual([event(2), event(3)]);
    accept();
    expect([ledger.findMissing(feed), found(feed)]).toEqual([[event(3)], []]);
  });

  test('requests, deliveries and repeated deliveries are counted since the last call', () => {
    const { ledger, receive, deliver } = setUp();
    for (const sequence of [1, 2, 1]) deliver(event(sequence));
    const accept = receive('evt_3', JSON.stringify(event(3)));
    expect(ledger.takeCounts()).toEqual({ requests: 4, delivered: 2, repeated: 1 });
    accept();
    deliver(event(2));
    expect(ledger.takeCounts()).toEqual({ requests: 1, delivered: 1, repeated: 1 });
  });

  test('the members of a delivery may be in another order than in the feed', () => {
    const { receive, found } = setUp();
    const { id, type, data } = event(1);
    receive(id, JSON.stringify({ data, type, id }))();
    expect(found([event(1)])).toEqual([]);
  });

  test.each([
    ['of another type than in the feed', JSON.stringify(event(1, { type: 'receipt.dead' }))],
    ['with another member', JSON.stringify({ ...event(1), more: 1 })],
    ['with another id in the body than in the header', JSON.stringify({ ...event(1), id: 'evt_2' })],
    ['that is no JSON', '{'],
  ])('a delivery must not be one %s', (_, text) => {
    const { receive, found } = setUp();
    receive('evt_1', text)();
    expect(found([event(1), event(2)])).toEqual(['delivery-differs account 1 evt_1']);
  });

  test.each([
    ['the first', event(1)],
    ['the second', event(1, { type: 'receipt.dead' })],
  ])(
    'a delivery that is repeated must have the same body, also without a 2xx reply; %s is in the feed',
    (_, inFeed) => {
      const { receive, deliver, found } = setUp();
      deliver(event(1));
      receive('evt_1', JSON.stringify(event(1, { type: 'receipt.dead' })));
      expect(found([inFeed])).toContain('delivery-differs account 1 evt_1');
    },
  );

  test('a delivery must be of an event of its account, also without a 2xx reply', () => {
    const { receive, deliver, found } = setUp();
    deliver(event(1));
    receive('evt_9', JSON.stringify(event(9)));
    expect(found([event(1)])).toEqual(['delivery-unfounded account 1 evt_9']);
  });

  test.each<[string, string, Record<string, string>]>([
    ['by another secret', '{}', headersOf('evt_1', '{}', OTHER_SECRET)],
    ['of another body', '{} ', headersOf('evt_1', '{}')],
    ['of another id', '{}', { ...headersOf('evt_2', '{}'), 'webhook-id': 'evt_1' }],
    ['of another time', '{}', { ...headersOf('evt_1', '{}'), 'webhook-timestamp': '1' }],
    ['that is missing', '{}', { 'webhook-id': 'evt_1' }],
  ])('a delivery must not have a signature %s', (_, text, headers) => {
    const { ledger, found } = setUp();
    ledger.enter(headers, text);
    expect(found([event(1)])).toContain('delivery-signature-invalid account 1 evt_1');
  });
});

describe('pages of events', () => {
  const ACCOUNT = 1;

  /** A page with these events that ends with the newest event. */
  function page(events: FeedEvent[], fields: Partial<FeedPage> = {}): FeedPage {
    return { events, next: String(events.at(-1)?.data.sequence ?? 0), more: false, ...fields };
  }

  function setUp() {
    const findings = createFindings();
    const ledger = createEventLedger(findings);
    return {
      begin: (after: number, accountId = ACCOUNT) => ledger.begin(accountId, after),
      read: () => ledger.eventsOf(ACCOUNT).map(({ id }) => id),
      found: () => findings.takeNew().map(({ name }) => name),
    };
  }

  test('pages that continue each other, and one that is read again, hold', () => {
    const { begin, read, found } = setUp();
    expect(begin(0)(page([event(1), event(2)], { more: true }))).toHaveLength(2);
    expect(begin(2)(page([event(3)]))).toHaveLength(1);
    expect(begin(0)(page([event(1), event(2)], { more: true }))).toEqual([]);
    expect(begin(3)(page([], { next: '3' }))).toEqual([]);
    expect(begin(1)(page([event(2), event(3), event(4)]))).toEqual([event(4)]);
    expect([read(), found()]).toEqual([['evt_1', 'evt_2', 'evt_3', 'evt_4'], []]);
  });

  test('each account has its own sequence', () => {
    const { begin, found } = setUp();
    begin(0)(page([event(1)]));
    begin(0, 2)(page([event(1, { id: 'evt_other' })]));
    expect(found()).toEqual([]);
  });

  test('pages that were requested at the same time may end at different events', () => {
    const { begin, read, found } = setUp();
    const [enterFirst, enterSecond] = [begin(0), begin(0)];
    enterSecond(page([event(1), event(2)]));
    enterFirst(page([event(1)]));
    expect([read(), found()]).toEqual([['evt_1', 'evt_2'], []]);
  });

  test.each<[string, string, number, FeedPage]>([
    ['that leaves out a sequence', 'event-gap', 2, page([event(4)])],
    ['that leaves out a sequence between two events', 'event-gap', 2, page([event(3), event(5)])],
    ['that repeats a sequence', 'event-gap', 2, page([event(3), event(3)])],
    ['whose events are not in order', 'event-gap', 0, page([event(2), event(1)])],
    ['with an id that another event has', 'event-doubled', 2, page([event(3, { id: 'evt_1' })])],
    ['with another event where one was read', 'event-changed', 0, page([event(1), event(2, { id: 'evt_9' })])],
    [
      'with an event that changed since it was read',
      'event-changed',
      1,
      page([event(2, { type: 'receipt.duplicate' })]),
    ],
    ['that lacks an event that was read before', 'event-gone', 0, page([event(1)])],
    ['that is empty after events that were read before', 'event-gone', 1, page([], { next: '1' })],
    ['whose cursor skips an event', 'event-cursor-wrong', 2, page([event(3)], { next: '4' })],
    ['whose cursor repeats an event', 'event-cursor-wrong', 2, page([event(3)], { next: '2' })],
    ['that is empty although there are more events', 'event-cursor-wrong', 2, page([], { next: '2', more: true })],
  ])('a page must not be one %s', (_, name, after, wrong) => {
    const { begin, found } = setUp();
    begin(0)(page([event(1), event(2)]));
    begin(after)(wrong);
    expect(found()).toEqual([name]);
  });
});

describe('cancellations', () => {
  const SENDER = { accountId: 1, apiKey: '', signingSecret: '', sourceId: '', hasEvents: false };
  const TARGET = { sender: SENDER, sourceOrderId: 'order-1' };
  const HELD = { outcome: 'held', orderId: null } as const;
  const CANCELLED = { outcome: 'cancelled', orderId: 7 } as const;
  const REQUESTED = { outcome: 'requested', orderId: 7 } as const;

  function setUp() {
    const findings = createFindings();
    const ledger = createCancellationLedger(findings);
    return {
      begin: () => ledger.begin(TARGET),
      latest: () => ledger.entries().map(({ reply }) => reply),
      found: () => findings.takeNew().map(({ name }) => name),
    };
  }

  test.each<[string, CancelReply, CancelReply]>([
    ['the same outcome', REQUESTED, REQUESTED],
    ['cancelled after held', HELD, CANCELLED],
  ])('a repeated cancellation may have %s', (_, first, second) => {
    const { begin, latest, found } = setUp();
    expect([begin()(first), begin()(second)]).toEqual([true, false]);
    expect([latest(), found()]).toEqual([[second], []]);
  });

  test.each<[string, CancelReply, CancelReply]>([
    ['held after cancelled', CANCELLED, HELD],
    ['requested after cancelled', CANCELLED, REQUESTED],
    ['cancelled after requested', REQUESTED, CANCELLED],
    ['requested after held', HELD, REQUESTED],
    ['another order', CANCELLED, { ...CANCELLED, orderId: 8 }],
  ])('a repeated cancellation must not have %s', (_, first, second) => {
    const { begin, found } = setUp();
    begin()(first);
    begin()(second);
    expect(found()).toEqual(['outcome-changed']);
  });

  test('the replies to concurrent requests may arrive in the other order, unless they contradict each other', () => {
    const { begin, latest, found } = setUp();
    const [enterFirst, enterSecond, enterThird] = [begin(), begin(), begin()];
    enterSecond(CANCELLED);
    enterFirst(HELD);
    expect([latest(), found()]).toEqual([[CANCELLED], []]);
    enterThird(REQUESTED);
    expect(found()).toEqual(['outcome-changed']);
  });
});
