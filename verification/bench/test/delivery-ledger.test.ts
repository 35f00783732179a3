import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createDeliveryLedger } from '../src/faults/endpoint-receiver.ts';
import { createFindings } from '../src/faults/findings.ts';
import type { FeedEvent } from '../src/faults/ledger.ts';

const [SECRET, OTHER_SECRET] = ['first', 'other'].map(
  (text) => `whsec_${Buffer.from(text.repeat(8)).toString('base64')}`,
);

function event(sequence: number, type = 'receipt.written'): FeedEvent {
  const data = { sequence, receipt_id: `receipt-${sequence}`, source_order_id: 'order-1', order_id: 7 };
  return { id: `evt_${sequence}`, type, data };
}

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
  ['of another type than in the feed', JSON.stringify(event(1, 'receipt.dead'))],
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
  ['the second', event(1, 'receipt.dead')],
])('a delivery that is repeated must have the same body, also without a 2xx reply; %s is in the feed', (_, inFeed) => {
  const { receive, deliver, found } = setUp();
  deliver(event(1));
  receive('evt_1', JSON.stringify(event(1, 'receipt.dead')));
  expect(found([inFeed])).toContain('delivery-differs account 1 evt_1');
});

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
