import { expect, test } from '@jest/globals';
import { revokeKey } from '@orders/database/accounts/api-keys.ts';
import { hashApiKey } from '@orders/domain/api-key.ts';
import { findAuthenticatedKeys } from '@orders/intake/pipeline/find-authenticated-keys.ts';
import { codeOf } from '../harness/api.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, db, shop } = useStack({ portal: true, shop: 'each test' });

test('at most two signing secrets are valid after many rotations', async () => {
  const codes = new Set<string>();
  for (let round = 0; round < 30; round += 1) {
    const overlap = round % 2 === 0 ? '7d' : 'none';
    const { status, body } = await shop.post('/signing/rotate', { overlap });
    codes.add(status === 200 ? 'rotated' : body.code);
  }
  expect(codes).toEqual(new Set(['rotated', 'signing_secrets_overlap', 'rate_limited']));
  expect((await shop.get('/signing')).body.secrets.length).toBeLessThanOrEqual(2);
  const [authenticated] = await findAuthenticatedKeys(stack.openDatabase(), [hashApiKey(shop.account.key)]);
  expect(authenticated?.sealedSecrets.length).toBeLessThanOrEqual(2);
  const stored = await knex('signing_secrets').where({ account_id: shop.account.id });
  expect(stored.length).toBeLessThanOrEqual(20);
});

test('a rotation with overlap is rejected while an older secret verifies, and nothing changes', async () => {
  expect((await shop.post('/signing/rotate', { overlap: '24h' })).status).toBe(200);
  const before = (await shop.get('/signing')).body;
  expect(before.secrets).toHaveLength(2);
  const rejected = await shop.post('/signing/rotate', { overlap: '1h' });
  expect(codeOf(rejected)).toEqual([409, 'signing_secrets_overlap']);
  expect((await shop.get('/signing')).body).toEqual(before);
  expect((await shop.post('/signing/rotate', { overlap: 'none' })).body.secrets).toHaveLength(1);
});

test('an account has at most 100 valid keys', async () => {
  const made = await Promise.all(Array.from({ length: 110 }, () => shop.post('/keys', { name: 'one of many' })));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(99);
  expect(new Set(made.map(({ body }) => body.code))).toEqual(new Set([undefined, 'too_many_keys']));
  const { keys } = (await shop.get('/keys')).body;
  expect(keys).toHaveLength(100);
  const replaced = await shop.post(`/keys/${keys[1].key_id}/replace`, { grace: 'none' });
  expect(replaced.status).toBe(201);
  await revokeKey(db, keys[2].key_id);
  expect((await shop.post('/keys', { name: 'the next' })).status).toBe(201);
});

test('the problem for an invalid name does not repeat it', async () => {
  const secret = 'Secret\u0000value';
  const { status, body } = await shop.post('/keys', { name: secret });
  expect([status, body.errors[0].pointer]).toEqual([422, '/name']);
  expect(JSON.stringify(body)).not.toContain('Secret');
});

test('long replies are compressed, except those with a secret', async () => {
  for (let n = 0; n < 12; n += 1) await shop.post('/keys', { name: 'x'.repeat(150) });
  expect((await shop.get('/keys')).headers['content-encoding']).toMatch(/br|gzip/);
  const made = await shop.post('/keys', { name: 'x'.repeat(150) });
  expect(made.headers['cache-control']).toContain('no-transform');
  expect((await shop.post('/signing/reveal')).headers['cache-control']).toContain('no-transform');
});
