import { afterAll, expect, test } from '@jest/globals';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { HOSTILE_MAPPINGS } from '../../../verification/bench/src/isolation/hostile-mappings.ts';
import { createParser } from '../src/parsing/parser.ts';

const parser = createParser();
afterAll(() => parser.close());

const BODY = Buffer.from('{"id":"1","source_order_id":"1"}');
const run = (accountId: number, mapping = PRESETS.custom.mapping, body: Buffer = BODY) =>
  parser.run({ accountId }, 'readDelivery', body, {
    ...PRESETS.custom,
    headers: {},
    mapping,
    idPrefix: '',
  });

test('a short delivery is read immediately by a mapping of a preset', () => {
  for (const { mapping } of Object.values(PRESETS)) expect(run(1, mapping)).toMatchObject({ kind: 'order' });
});

test.each(HOSTILE_MAPPINGS)('a delivery with $name is read in the thread', async ({ mapping, body }) => {
  const read = run(1, mapping, body);
  expect(read).toBeInstanceOf(Promise);
  expect(await read).toMatchObject({ kind: 'order' });
});

test('a delivery of an account waits for two of another account that sends 120 at once', async () => {
  const [{ mapping }] = HOSTILE_MAPPINGS as [(typeof HOSTILE_MAPPINGS)[number]];
  const ended: string[] = [];
  const read = async (accountId: number, name: string) => {
    await run(accountId, mapping);
    ended.push(name);
  };
  const hostile = Array.from({ length: 120 }, (_, at) => read(1, `hostile ${at}`));
  await Promise.all([...hostile, read(2, 'polite')]);
  // One ran already, and one was the first to wait.
  expect(ended.indexOf('polite')).toBe(2);
});
