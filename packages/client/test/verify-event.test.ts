import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  type DeliveredEvent,
  OrdersError,
  type OrdersEvent,
  signEvent,
  VerificationError,
  verifyEvent,
} from '../src/index.ts';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`;
const SECRET = secretOf(7);
const ID = 'evt_0e6d3f2b9a4c4b0e8f1d2c3b4a5f6e7d';
const EVENT: OrdersEvent = {
  id: ID,
  type: 'order.rejected',
  timestamp: '2026-11-24T08:30:10.000Z',
  data: { sequence: 42, receipt_id: 'r', source_order_id: 'ü 1', order_id: 17, reason: 'نفد' },
};
const BODY = JSON.stringify(EVENT);
const NOW = () => new Date();

/** The headers of a request as the reference implementation signs it. */
function headersOf(body: string, { secret = SECRET, at = NOW(), id = ID } = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);

describe('an event that the reference implementation signed is returned', () => {
  test('from text and from bytes', async () => {
    expect(await verifyEvent(BODY, headersOf(BODY), SECRET)).toEqual(EVENT);
    expect(await verifyEvent(Buffer.from(BODY), headersOf(BODY), SECRET)).toEqual(EVENT);
  });

  test('with the headers of fetch, of node:http, and in capitals', async () => {
    const headers = headersOf(BODY);
    expect(await verifyEvent(BODY, new Headers(headers), SECRET)).toEqual(EVENT);
    const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    expect(await verifyEvent(BODY, { accept: undefined, ...capitals }, SECRET)).toEqual(EVENT);
  });

  test('with several signatures and several secrets, of which one matches', async () => {
    const headers = headersOf(BODY);
    const other = headersOf(BODY, { secret: secretOf(8) })['webhook-signature'];
    const several = { ...headers, 'webhook-signature': `v1a,x ${other} ${headers['webhook-signature']}` };
    expect(await verifyEvent(BODY, several, SECRET)).toEqual(EVENT);
    expect(await verifyEvent(BODY, headers, [secretOf(9), SECRET])).toEqual(EVENT);
  });

  test.each([-295, 295])('at a difference of %i seconds to the clock', async (seconds) => {
    expect(await verifyEvent(BODY, headersOf(BODY, { at: inSeconds(seconds) }), SECRET)).toEqual(EVENT);
  });
});

describe('a request is rejected', () => {
  const headers = headersOf(BODY);
  const [, signature] = headers['webhook-signature'].split(',') as [string, string];

  test.each<[string, Record<string, string | string[] | undefined>, string]>([
    ['without an id', { 'webhook-id': undefined }, 'webhook-id is missing'],
    ['without a time', { 'webhook-timestamp': '' }, 'webhook-timestamp is missing'],
    ['without a signature', { 'webhook-signature': [] }, 'webhook-signature is missing'],
    ['with another id', { 'webhook-id': 'evt_other' }, 'No signature'],
    ['with two ids', { 'webhook-id': [ID, ID] }, 'No signature'],
    ['with another time', { 'webhook-timestamp': `${Number(headers['webhook-timestamp']) - 1}` }, 'No signature'],
    ['with a time that is none', { 'webhook-timestamp': 'soon' }, 'Unix time'],
    ['with a signature of another version', { 'webhook-signature': `v2,${signature}` }, 'No signature'],
    ['with a signature without a version', { 'webhook-signature': signature }, 'No signature'],
    ['with half of the signature', { 'webhook-signature': `v1,${signature.slice(0, 20)}` }, 'No signature'],
    ['with an empty signature', { 'webhook-signature': 'v1,' }, 'No signature'],
    [
      'that was signed with another secret',
      { 'webhook-signature': headersOf(BODY, { secret: secretOf(8) })['webhook-signature'] },
      'No signature',
    ],
  ])('%s', async (_, changed, message) => {
    const error = await verifyEvent(BODY, { ...headers, ...changed }, SECRET).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(VerificationError);
    expect(error).toBeInstanceOf(OrdersError);
    expect(error).toMatchObject({ code: 'verification_failed', isRetryable: false });
    expect(error.message).toContain(message);
    expect(() => new Webhook(SECRET).verify(BODY, { ...headers, ...changed } as Record<string, string>)).toThrow();
  });

  test('with another body, or the same JSON with other spaces', async () => {
    for (const body of [BODY.replace('42', '43'), JSON.stringify(EVENT, null, 1), '']) {
      await expect(verifyEvent(body, headers, SECRET)).rejects.toThrow('No signature matches');
    }
  });

  test.each([
    [-310, 'seconds before the clock'],
    [310, 'seconds after the clock'],
  ])('with a time that differs by %i seconds, and the error says by how much', async (seconds, message) => {
    const old = headersOf(BODY, { at: inSeconds(seconds) });
    const error = await verifyEvent(BODY, old, SECRET).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(VerificationError);
    expect(error.message).toMatch(new RegExp(`is 3(09|10|11) ${message}`));
    expect(() => new Webhook(SECRET).verify(BODY, old)).toThrow();
  });

  test.each(['[]', 'null', 'text', '{"id":"evt_1","type":"x","timestamp":"x"}'])(
    'with the body %s, which is correctly signed and no event',
    async (body) => {
      await expect(verifyEvent(body, headersOf(body), SECRET)).rejects.toThrow('not an event');
    },
  );
});

test.each([[''], [[]], ['whsec_'], ['oss_secret'], ['whsec_a'], ['whsec_ü'], [undefined], [[SECRET, '']]])(
  'the secret %j is a TypeError that does not quote it',
  async (secret) => {
    const error = await verifyEvent(BODY, headersOf(BODY), secret as string).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/^The secret (must be "whsec_" and base64|to verify with is missing)\.$/);
  },
);

test('a body that was parsed already is a TypeError', async () => {
  await expect(verifyEvent(EVENT as never, headersOf(BODY), SECRET)).rejects.toThrow('before parsing');
});

test('an event is signed as the reference implementation signs it', async () => {
  const at = new Date('2026-11-24T08:30:10.400Z');
  const headers = await signEvent(BODY, SECRET, { id: ID, timestamp: at });
  expect(headers).toEqual(headersOf(BODY, { at }));
  expect(await verifyEvent(BODY, await signEvent(BODY, SECRET), SECRET)).toEqual(EVENT);
  await expect(signEvent(BODY, 'oss_no')).rejects.toThrow(TypeError);
});

test('the type of an event tells what its data has', () => {
  const describe = (event: DeliveredEvent): string => {
    switch (event.type) {
      case 'receipt.written':
        return `${event.data.source_order_id} ${event.data.warnings?.length}`;
      case 'order.rejected':
        return `${event.data.order_id} ${event.data.reason}`;
      case 'endpoint.test':
        // @ts-expect-error: a test is about no order.
        return `${event.data.source_order_id}`;
      default:
        return event.type;
    }
  };
  expect(describe(EVENT)).toBe('17 نفد');
});
