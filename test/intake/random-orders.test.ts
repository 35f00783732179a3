import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { listOrders } from '@orders/cli/list-orders.ts';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { type WritableOrder, writeOrders } from '@orders/database/orders/write-orders.ts';
import { type IncomingReceipt, recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { storeMismatches } from '@orders/intake/receipts/store-mismatches.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { anything } from '../../packages/domain/test/arbitrary-payload.ts';
import { hostileBody } from '../harness/arbitrary-request.ts';
import { newReceipt } from '../harness/new-receipt.ts';
import { useDatabase, useStack } from '../harness/use-stack.ts';

function countOf(variable: string, usual: number): number {
  const count = Number(process.env[variable] ?? usual);
  if (!Number.isSafeInteger(count) || count <= 0) throw new Error(`${variable} takes a whole number above 0.`);
  return count;
}

/** `npm run test:full` tries 100,000. */
const COUNT = countOf('RANDOM_ORDERS', 4_000);
/** Set RANDOM_SEED to repeat a failed run. */
const SEED = Number(process.env.RANDOM_SEED ?? Date.now() % 2 ** 31);
const BATCH = 500;

const { db, database } = useDatabase();

/** Random payloads as request bodies, each with its own id. */
function randomBodies(seed: number): Buffer[] {
  const payloads = fc.sample(anything, { numRuns: BATCH, seed });
  return payloads.map((payload) => Buffer.from(JSON.stringify({ ...payload, source_order_id: uuidv7() })));
}

test(
  `${COUNT} random payloads (RANDOM_SEED=${SEED}) are stored exactly as they were normalized`,
  async () => {
    for (let done = 0; done < COUNT; done += BATCH) {
      const { account_id: accountId } = await createAccount(db.db, `random ${done}`);
      const bodies = randomBodies(SEED + done);
      const normalized = bodies.map((body) => normalizeOrder(parseBody(body)));
      const receipts = bodies.map((body, index) =>
        newReceipt({ accountId, sourceOrderId: normalized[index]?.order.source_order_id ?? '', body }),
      );
      const ids = await recordReceipts(database, randomUUID(), 60_000, receipts);
      const leaseId = randomUUID();
      await claimReceipts(database, ids, leaseId, 60_000);
      const writable = receipts.map(({ receiptId }, index) => ({ receiptId, accountId, ...normalized[index] }));
      const { written } = await writeOrders(database, leaseId, [randomUUID()], writable as WritableOrder[]);
      expect(written).toHaveLength(BATCH);

      const stored = await listOrders(db.db, { accountId });
      expect(stored).toHaveLength(BATCH);
      const expected = new Map(normalized.map((one) => [one.order.source_order_id, one]));
      for (const order of stored) {
        const one = expected.get(order.source_order_id);
        expect(order).toMatchObject({ ...one?.order, warnings: one?.warnings });
      }
    }
  },
  // As long as any other test may take, and more if there are more of them.
  240_000 + COUNT * 10,
);

/** `npm run test:full` sends 600. */
const BATCHES = countOf('RANDOM_BATCHES', 30);

const { knex, api, account } = useStack({ intake: true, account: true });

/** Bytes as one line, without line breaks and surrounding white space. */
const asLine = (bytes: Buffer) =>
  Buffer.from(
    bytes
      .toString('latin1')
      .replaceAll('\n', ' ')
      .replace(/^[ \t\r]+|(?<![ \t\r])[ \t\r]+$/g, ''),
    'latin1',
  );

type Result = { receipt_id?: string; error?: { status: number; code: string; detail: string; errors?: unknown[] } };

test(
  `${BATCHES} random batches (RANDOM_SEED=${SEED}): each order gets the result that it would get alone, and accepted bodies are stored unchanged`,
  async () => {
    const send = async (bodies: Buffer[]) => {
      const lines = bodies.map(asLine).filter((line) => line.length > 0);
      // A byte order mark alone on the first line leaves an empty line.
      const sent = lines.filter((line, index) => index > 0 || line.toString('hex') !== 'efbbbf');
      const reply = await api.batch(account, Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\r\n')])));
      if (sent.length === 0) return expect(reply.body.code).toBe('malformed_body');
      const results: Result[] = reply.body.results;
      expect([reply.status, results.length]).toEqual([202, sent.length]);
      for (const [index, line] of sent.entries()) {
        // A preview validates like an order and stores nothing.
        const alone = await api.preview(account, line);
        const { error } = results[index] as Result;
        const verdict = error && [error.status, error.code, error.errors];
        expect(verdict).toEqual(alone.status === 200 ? undefined : [alone.status, alone.body.code, alone.body.errors]);
      }
      const stored = sent.filter((_, index) => results[index]?.receipt_id);
      const { rows } = await knex.raw(
        `select substring(p.bodies from r.body_start for r.body_length) as body
         from receipts r join receipt_payloads p using (batch_id, account_id) where receipt_id = any(?) order by receipt_id`,
        [results.flatMap(({ receipt_id }) => receipt_id ?? [])],
      );
      expect(rows.map(({ body }: { body: Buffer }) => body.toString('hex'))).toEqual(
        stored.map((line) => line.toString('hex').replace(/^efbbbf(?=.)/, (mark) => (line === lines[0] ? '' : mark))),
      );
    };
    const bodies = fc.array(hostileBody, { maxLength: 12 });
    await fc.assert(fc.asyncProperty(bodies, send), { numRuns: BATCHES, seed: SEED, endOnFailure: true });
  },
  // As long as any other test may take, and more if there are more of them.
  240_000 + BATCHES * 5000,
);

const ROUNDS = 150;

/** An empty body begins at the same place as the next one, which was not found then. */
const WITH_EMPTY_BODY = 203_417_149;

let accountIds: number[];

beforeAll(async () => {
  accountIds = [];
  for (const name of ['a', 'b', 'c']) accountIds.push((await createAccount(db.db, name)).account_id);
});

const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));
const delivery = fc.record({
  place: fc.nat(2),
  /** The keys are few, so that most are used before. */
  key: fc.option(fc.nat(40)),
  body: bytes,
  raw: fc.option(bytes),
});
const batches = fc.array(delivery, { minLength: 1, maxLength: 12 });

function incoming({ place, key, body, raw }: { place: number; key: number | null; body: Buffer; raw: Buffer | null }) {
  const idempotencyKey = key === null ? null : `k-${key}`;
  const receipt = newReceipt({ accountId: accountIds[place] as number, channel: 'webhook', idempotencyKey, body });
  return raw ? { ...receipt, delivery: { sourceNumber: 1, raw, kind: 'order' as const, modifiedAt: null } } : receipt;
}

/** Without two receipts of one account and key, as the writer makes batches. */
function withoutRepeatedKeys(batch: IncomingReceipt[]): IncomingReceipt[] {
  const names = batch.map(({ accountId, idempotencyKey }) => idempotencyKey && `${accountId} ${idempotencyKey}`);
  return batch.filter((_one, index) => names[index] === null || names.indexOf(names[index] as string) === index);
}

/** The two bodies of stored receipts in hex, by receipt id. */
async function storedBodies(ids: readonly string[]): Promise<Map<string, (string | null)[]>> {
  const claimed = await claimReceipts(database, ids, randomUUIDv7(), 10_000);
  const { rows } = await db.knex.raw(
    `select receipt_id, encode(substring(bodies from body_start + body_length for raw_length), 'hex') as raw
     from receipts join receipt_payloads using (batch_id, account_id) where receipt_id = any(?::uuid[])`,
    [[...ids]],
  );
  const raws = new Map(
    rows.map(({ receipt_id, raw }: { receipt_id: string; raw: string | null }) => [receipt_id, raw]),
  );
  return new Map(
    claimed.map(({ receiptId, body }) => [receiptId, [body?.toString('hex') ?? null, raws.get(receiptId) ?? null]]),
  ) as Map<string, (string | null)[]>;
}

function sentBodies(receipts: readonly IncomingReceipt[]) {
  return new Map(
    receipts.map(({ receiptId, body, delivery }) => [
      receiptId,
      [body.toString('hex'), delivery?.raw.toString('hex') ?? null],
    ]),
  );
}

test(`deliveries to sources and other orders in one batch keep their bytes, with and without replays (RANDOM_SEED=${SEED})`, async () => {
  const all = [WITH_EMPTY_BODY, SEED].flatMap((seed) => fc.sample(batches, { numRuns: ROUNDS, seed }));
  for (const batch of all) {
    const receipts = withoutRepeatedKeys(batch.map(incoming));
    const ids = await recordReceipts(database, randomUUIDv7(), 10_000, receipts);
    const stored = receipts.filter(({ receiptId }) => ids.includes(receiptId));
    expect(await storedBodies(ids)).toEqual(sentBodies(stored));

    const replays = receipts.filter(
      ({ receiptId, accountId }) => !ids.includes(receiptId) && accountId === accountIds[0],
    );
    const mismatches = replays.map((replay) => ({
      ...replay,
      idempotencyKey: `${replay.idempotencyKey} sha256:${replay.body.toString('hex')}`,
      originalId: randomUUIDv7(),
      isSameOrder: true,
    }));
    if (mismatches.length === 0) continue;
    const kept = await storeMismatches(database, randomUUIDv7(), 10_000, mismatches);
    if (kept.size > 0)
      expect(await storedBodies([...kept])).toEqual(sentBodies(replays.filter(({ receiptId }) => kept.has(receiptId))));
  }
});
