import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findReceipt } from '@orders/database';
import { createTestDatabase, PREPARED, type TestDatabase } from '../../../test/harness/database.ts';
import { until } from '../../../test/harness/until.ts';
import { openReadReplica } from '../src/receipts/read-replica.ts';

const NOBODYS = '00000000-0000-7000-8000-000000000000';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

test('a replica whose connections are all in use is not taken for one that is away', async () => {
  const outages: unknown[] = [];
  const log = { met: (error: unknown) => outages.push(error), over: () => {} };
  const replica = openReadReplica({ url: db.url, poolSize: 1, prepared: PREPARED }, log);
  const look = () => replica.ask(async (database) => ({ found: await findReceipt(database, 0, NOBODYS) }));
  // Opening its one connection may take longer than anybody waits, and then counts as an outage.
  await until('its connection is open', look);
  outages.length = 0;
  const [held, holds] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const authenticated = replica.ask(async ({ pool }) => {
    const client = await pool.connect();
    holds.resolve();
    await held.promise;
    client.release();
  });
  await holds.promise;
  expect(await look()).toBeNull();
  expect(outages).toEqual([]);
  held.resolve();
  await authenticated;
  expect(await until('it answers again', look)).toEqual({ found: null });
  await replica.close();
});
