import { afterEach, expect, jest, test } from '@jest/globals';
import { type CancelResult, ValidationError, verifySignature } from '../src/index.ts';
import { type Arrived, answer, hangUp, KEY, refuse, SECRET, startScript } from './scripted-server.ts';

const HELD: CancelResult = { outcome: 'held', source_order_id: 'c-1', order_id: null };
const bodies = ({ arrived }: { arrived: Arrived[] }) => arrived.map(({ body }) => JSON.parse(body.toString()));

afterEach(() => {
  jest.restoreAllMocks();
});

test('an order is cancelled by its id, with a reason if there is one, and without an idempotency key', async () => {
  await using script = await startScript(answer(200, HELD));
  const client = script.client();
  expect(await client.cancelOrder('c-1')).toEqual(HELD);
  await client.cancelOrder('c-1', { reason: 'Sold out' });
  expect(bodies(script)).toEqual([{ source_order_id: 'c-1' }, { source_order_id: 'c-1', reason: 'Sold out' }]);
  const [first] = script.arrived;
  expect(first).toMatchObject({ method: 'POST', path: '/ingest/orders/cancel' });
  expect(first?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' });
  for (const name of ['idempotency-key', 'x-service-signature']) expect(first?.headers).not.toHaveProperty(name);
});

test('a list takes ids and cancellations with reasons', async () => {
  const results = ['c-1', 'c-2'].map((source_order_id) => ({ ...HELD, source_order_id }));
  await using script = await startScript(answer(200, { results }));
  expect(await script.client().cancelOrders(['c-1', { source_order_id: 'c-2', reason: 'Late' }])).toEqual({ results });
  expect(bodies(script)).toEqual([
    { cancellations: [{ source_order_id: 'c-1' }, { source_order_id: 'c-2', reason: 'Late' }] },
  ]);
});

test('a webhook signs the exact bytes, with the secret of the call or of the client', async () => {
  await using script = await startScript(answer(200, HELD), answer(200, { results: [HELD] }));
  const client = script.client();
  await client.cancelOrder('ü 1', { via: 'webhook' });
  await client.cancelOrders(['c-1'], { via: 'webhook', signingSecret: 'oss_another' });
  for (const [index, secret] of [SECRET, 'oss_another'].entries()) {
    const { path, headers, body } = script.arrived[index] as Arrived;
    expect(path).toBe('/ingest/webhook/cancel');
    expect(await verifySignature(body, String(headers['x-service-signature']), secret)).toBe(true);
  }
});

test('temporary failures are retried with the same body', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  await using script = await startScript(hangUp, refuse(503, 'overloaded'), refuse(500, 'x'), answer(200, HELD));
  expect(await script.client().cancelOrder('c-1')).toEqual(HELD);
  expect(bodies(script)).toEqual(Array(4).fill({ source_order_id: 'c-1' }));
});

test('broken rules are a ValidationError, and it is not retried', async () => {
  await using script = await startScript(refuse(422, 'validation_failed'));
  await expect(script.client().cancelOrders([])).rejects.toBeInstanceOf(ValidationError);
  expect(script.arrived).toHaveLength(1);
});

test('nothing is sent for wrong arguments', async () => {
  await using script = await startScript(answer(200, HELD));
  const client = script.client({ signingSecret: undefined });
  await expect(client.cancelOrder('c-1', { via: 'webhook' })).rejects.toThrow('signingSecret');
  await expect(client.cancelOrder('c-1', { via: 'mail' as 'rest' })).rejects.toThrow('via must be');
  await expect(client.cancelOrders('c-1' as unknown as string[])).rejects.toThrow('must be a list');
  expect(script.arrived).toEqual([]);
});
