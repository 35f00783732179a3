import { expect, test } from '@jest/globals';
import { createFindings } from '../src/faults/findings.ts';
import { type CancelReply, createCancellationLedger } from '../src/faults/ledger.ts';

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
