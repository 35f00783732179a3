import { beforeAll, expect, test } from '@jest/globals';
import { lintWithRedocly } from '@orders/openapi-tools/redocly';
import { runTypedSender } from '@orders/openapi-tools/typed-sender';
import { type RunningIntake, type Stack, startStack, type TestAccount } from '../harness/stack.ts';

let stack: Stack;
let intake: RunningIntake;
let document: object;
let account: TestAccount;

beforeAll(async () => {
  stack = await startStack('postgres');
  intake = await stack.intake();
  await stack.worker();
  document = (await intake.api.send('GET', '/openapi.json')).body;
  account = await stack.account();
});

test('Redocly finds nothing wrong with the document', async () => {
  await lintWithRedocly(`${intake.api.url}/openapi.json`);
});

test('a client with types from openapi-typescript compiles and sends an order and a batch', async () => {
  const output = await runTypedSender(document, intake.api.url, account.key);
  expect(output).toBe('written 0 stored stored validation_failed\n');
});
