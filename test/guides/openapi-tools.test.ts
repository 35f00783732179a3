import { beforeAll, expect, test } from '@jest/globals';
import { lintWithRedocly, runTypedSender } from '@orders/openapi-tools/tools';
import { useStack } from '../harness/use-stack.ts';

let document: object;

const { api, account } = useStack({ intake: true, worker: true, account: true });

beforeAll(async () => {
  document = (await api.send('GET', '/openapi.json')).body;
});

test('Redocly finds nothing wrong with the document', async () => {
  await lintWithRedocly(`${api.url}/openapi.json`);
});

test('a client with types from openapi-typescript compiles and sends an order and a batch', async () => {
  const output = await runTypedSender(document, api.url, account.key);
  expect(output).toBe('written 0 stored stored validation_failed\n');
});
