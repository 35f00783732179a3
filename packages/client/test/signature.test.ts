import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { signBody, verifySignature } from '../src/index.ts';
import { accepted, hangUp, SECRET, startScript } from './scripted-server.ts';

const hmac = (body: string | Uint8Array) => createHmac('sha256', SECRET).update(body).digest('hex');
const BODY = '{"source_order_id": "ü 1"}';

test('a body is signed as any other HMAC-SHA256 signs it', async () => {
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
  ])('a signature %s is right', async (_, write) => {
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
  ])('%s is wrong', async (_, header) => {
    expect(await verifySignature(BODY, header, SECRET)).toBe(false);
  });

  test('each of several secrets may have signed', async () => {
    const signature = await signBody(BODY, SECRET);
    expect(await verifySignature(BODY, signature, ['oss_new', SECRET])).toBe(true);
    expect(await verifySignature(BODY, signature, [SECRET, 'oss_new'])).toBe(true);
    expect(await verifySignature(BODY, signature, ['oss_new', 'oss_newer'])).toBe(false);
  });

  test.each([[''], [[]], [['oss_new', '']], [undefined]])(
    'without a secret (%j) it throws rather than say no',
    async (secret) => {
      await expect(verifySignature(BODY, hmac(BODY), secret as string)).rejects.toThrow(TypeError);
    },
  );
});

test('half a character has no bytes that could be signed', async () => {
  await expect(signBody('\ud83d', SECRET)).rejects.toThrow(TypeError);
  await expect(verifySignature('\ud83d', hmac('\ufffd'), SECRET)).rejects.toThrow(TypeError);
  expect(await signBody('😀', SECRET)).toBe(`sha256=${hmac('😀')}`);
});

test.each<[string, () => string | Uint8Array | { source_order_id: string }]>([
  ['an order', () => ({ source_order_id: 'ü' })],
  ['a string, unchanged', () => BODY],
  ['bytes, unchanged', () => new TextEncoder().encode(`\ufeff${BODY}\n`)],
])('a webhook of %s is signed over what is sent, on every attempt', async (_, make) => {
  await using script = await startScript(hangUp, accepted);
  const order = make();
  const sent = order instanceof Uint8Array ? order.slice() : typeof order === 'string' ? order : JSON.stringify(order);
  const submitted = script.client().sendWebhook(order);
  if (order instanceof Uint8Array) order.fill(0);
  await submitted;
  expect(script.arrived).toHaveLength(2);
  for (const { path, body, headers } of script.arrived) {
    expect(path).toBe('/ingest/webhook');
    expect(body.equals(Buffer.from(sent as string))).toBe(true);
    expect(headers['x-service-signature']).toBe(`sha256=${hmac(body)}`);
  }
});

test("a secret of the call takes the place of the client's", async () => {
  await using script = await startScript(accepted);
  await script.client().sendWebhook(BODY, { signingSecret: 'oss_other' });
  const { body, headers } = script.arrived[0] as (typeof script.arrived)[0];
  expect(await verifySignature(body, headers['x-service-signature'] as string, 'oss_other')).toBe(true);
});
