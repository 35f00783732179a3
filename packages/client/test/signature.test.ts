import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { signBody, verifySignature } from '../src/index.ts';
import { accepted, hangUp, SECRET, startScript } from './scripted-server.ts';

const hmac = (body: string | Uint8Array) => createHmac('sha256', SECRET).update(body).digest('hex');
const BODY = '{"source_order_id": "ü 1"}';

test('the signature of a body equals the HMAC-SHA256 of node:crypto', async () => {
  expect(await signBody(BODY, SECRET)).toBe(`sha256=${hmac(BODY)}`);
  const bytes = Uint8Array.of(0, 255, 128, 10);
  expect(await signBody(bytes, SECRET)).toBe(`sha256=${hmac(bytes)}`);
});

describe('verifying', () => {
  test.each<[string, (hex: string) => string]>([
    ['with its prefix', (hex) => `sha256=${hex}`],
    ['bare', (hex) => hex],
    ['in capitals', (hex) => `SHA256=${hex.toUpperCase()}`],
    ['between spaces', (hex) => ` sha256=${hex} `],
  ])('accepts a signature %s', async (_, write) => {
    expect(await verifySignature(BODY, write(hmac(BODY)), SECRET)).toBe(true);
    expect(await verifySignature(new TextEncoder().encode(BODY), write(hmac(BODY)), SECRET)).toBe(true);
  });

  test.each<[string, string | null | undefined]>([
    ['none', null],
    ['none', undefined],
    ['an empty one', ''],
    ['one of another body', hmac('{}')],
    ['one that is cut off', hmac(BODY).slice(1)],
    ['one that is too long', `${hmac(BODY)}0`],
    ['another algorithm', `sha1=${hmac(BODY)}`],
    ['two', `${hmac(BODY)}, ${hmac(BODY)}`],
    ['no hexadecimal digits', 'z'.repeat(64)],
  ])('rejects %s', async (_, header) => {
    expect(await verifySignature(BODY, header, SECRET)).toBe(false);
  });

  test('accepts a signature by any of several secrets', async () => {
    const signature = await signBody(BODY, SECRET);
    expect(await verifySignature(BODY, signature, ['oss_new', SECRET])).toBe(true);
    expect(await verifySignature(BODY, signature, [SECRET, 'oss_new'])).toBe(true);
    expect(await verifySignature(BODY, signature, ['oss_new', 'oss_newer'])).toBe(false);
  });

  test.each([[''], [[]], [['oss_new', '']], [undefined]])(
    'without a secret (%j) throws instead of returning false',
    async (secret) => {
      await expect(verifySignature(BODY, hmac(BODY), secret as string)).rejects.toThrow(TypeError);
    },
  );
});

test('a string with a lone surrogate cannot be signed', async () => {
  await expect(signBody('\ud83d', SECRET)).rejects.toThrow(TypeError);
  await expect(verifySignature('\ud83d', hmac('\ufffd'), SECRET)).rejects.toThrow(TypeError);
  expect(await signBody('😀', SECRET)).toBe(`sha256=${hmac('😀')}`);
});

test.each<[string, () => string | Uint8Array | { source_order_id: string }]>([
  ['an order', () => ({ source_order_id: 'ü' })],
  ['a string, unchanged', () => BODY],
  ['bytes, unchanged', () => new TextEncoder().encode(`\ufeff${BODY}\n`)],
])('the signature of a webhook with %s covers the bytes sent, on every attempt', async (_, make) => {
  await using script = await startScript(hangUp, accepted);
  const order = make();
  const sent = order instanceof Uint8Array ? order.slice() : typeof order === 'string' ? order : JSON.stringify(order);
  const submitted = script.client().sendWebhook(order);
  if (order instanceof Uint8Array) order.fill(0);
  await submitted;
  expect(script.arrived).toHaveLength(2);
  for (const { path, body, headers } of script.arrived) {
    expect(path).toBe('/ingest/webhook');
    expect(body).toEqual(Buffer.from(sent as string));
    expect(headers['x-service-signature']).toBe(`sha256=${hmac(body)}`);
  }
});

test('the secret of a call replaces the secret of the client', async () => {
  await using script = await startScript(accepted);
  await script.client().sendWebhook(BODY, { signingSecret: 'oss_other' });
  const { body, headers } = script.arrived[0] as (typeof script.arrived)[0];
  expect(await verifySignature(body, headers['x-service-signature'] as string, 'oss_other')).toBe(true);
});
