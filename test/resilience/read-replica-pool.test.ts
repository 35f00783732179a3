import { expect, test } from '@jest/globals';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { until } from '@orders/test-services/until.ts';
import { openReadReplica } from '../../apps/intake/src/receipts/read-replica.ts';
import { lockTables } from '../harness/barriers.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { PREPARED } from '../harness/database.ts';
import { useDatabase } from '../harness/use-database.ts';

const UNKNOWN_RECEIPT = '00000000-0000-7000-8000-000000000000';

const { db } = useDatabase();

test('a replica whose connections are all in use is not considered down', async () => {
  const outages: unknown[] = [];
  const log = { failed: (error: unknown) => outages.push(error), recovered: () => {} };
  const replica = closeAtEnd(openReadReplica({ url: db.url, poolSize: 1, prepared: PREPARED }, log));
  const lookUp = () => replica.query(async (database) => ({ found: await findReceipt(database, 0, UNKNOWN_RECEIPT) }));
  // Opening its only connection may exceed the timeout, which counts as an outage.
  await until('its connection is open', lookUp);
  outages.length = 0;
  const [release, isHeld] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = replica.query(async ({ pool }) => {
    const client = await pool.connect();
    isHeld.resolve();
    await release.promise;
    client.release();
  });
  await isHeld.promise;
  expect(await lookUp()).toBeNull();
  expect(outages).toEqual([]);
  release.resolve();
  await holding;
  expect(await until('it answers again', lookUp)).toEqual({ found: null });
});

test('a replica that does not answer is asked once, and again after a probe was answered', async () => {
  const log = { failed: () => {}, recovered: () => {} };
  const replica = closeAtEnd(openReadReplica({ url: db.url, poolSize: 1, prepared: PREPARED }, log));
  let asked = 0;
  const lookUp = () =>
    replica.query(async (database) => {
      asked += 1;
      return { found: await findReceipt(database, 0, UNKNOWN_RECEIPT) };
    });
  await until('its connection is open', lookUp);
  const silence = await lockTables(db.knex, 'receipts');
  asked = 0;
  for (let time = 0; time < 10; time += 1) expect(await lookUp()).toBeNull();
  await silence.release();
  expect(asked).toBe(1);
  expect(await until('it answers again', lookUp)).toEqual({ found: null });
});
