import { expect, test } from '@jest/globals';
import { createFindings } from '../src/faults/findings.ts';
import { createEventLedger, type FeedEvent, type FeedPage } from '../src/faults/ledger.ts';

const ACCOUNT = 1;

function event(sequence: number, id = `evt_${sequence}`): FeedEvent {
  const data = { sequence, receipt_id: `receipt-${sequence}`, source_order_id: 'order-1', order_id: 7 };
  return { id, type: 'receipt.written', data };
}

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
  begin(0, 2)(page([event(1, 'evt_other')]));
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
  ['with an id that another event has', 'event-doubled', 2, page([event(3, 'evt_1')])],
  ['with another event where one was read', 'event-changed', 0, page([event(1), event(2, 'evt_9')])],
  [
    'with an event that changed since it was read',
    'event-changed',
    1,
    page([{ ...event(2), type: 'receipt.duplicate' }]),
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
