import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  claimReceipts,
  closeDatabase,
  createAccount,
  type Database,
  fillSearchTerms,
  migrate,
  openDatabase,
  openKnex,
  recordReceipts,
  writeOrders,
} from '@orders/database';
import { normalizeOrder } from '@orders/domain';
import type { Services } from '../services.ts';

/** The cost in Postgres of writing an order, or of creating its search terms afterwards. */
export interface WriteCost {
  what: string;
  /** CPU time in microseconds per order. */
  microseconds: number;
  /** WAL bytes per order. */
  walBytes: number;
  /** The slowest batch in milliseconds. */
  slowestMs: number;
}

/** The variants without certain indexes, to measure their cost. */
const VARIANTS = [
  { what: 'written without the indexes of the list', drop: ['orders_needing_review', 'orders_reviewed'] },
  { what: 'written', drop: [] },
];
const BATCH = 500;
const WARM_UP_ROUNDS = 5;
/** Linux reports CPU time in hundredths of a second. */
const TICK_US = 10_000;

const FIRST = 'Mohammed,Ahmed,Fatima,Aisha,Omar,Khalid,Sara,Priya,John,محمد,فاطمة,Yousef,Layla,Rahul,Noor,Hassan'.split(
  ',',
);
const LAST = 'Al Mansoori,Khan,Smith,Patel,الهاشمي,Al Nuaimi,Fernandes,Haddad,Nair,Al Suwaidi,Rahman,Cruz'.split(',');
const oneOf = (texts: readonly string[]) => texts[Math.floor(Math.random() * texts.length)];

interface Subject extends WriteCost {
  url: string;
  database: Database;
  backendPid: number;
  batches: number;
}

/** Writes batches like the worker, in turn with and without the indexes of the list, and then creates the search terms. */
export async function measureWrites(
  services: Services,
  rounds: number,
  printProgress: (text: string) => void,
): Promise<WriteCost[]> {
  const subjects: Subject[] = [];
  try {
    for (const [number, { what, drop }] of VARIANTS.entries()) {
      const url = await services.fresh(`writes_${number}`);
      const knex = openKnex({ url, applicationName: 'orders bench' });
      await migrate(knex);
      for (const index of drop) await knex.raw(`drop index ${index}`);
      await knex.destroy();
      const database = openDatabase({ url, poolSize: 1, prepared: true, bulk: true });
      const { rows } = await database.pool.query('select pg_backend_pid() as pid');
      const nothing = { microseconds: 0, walBytes: 0, slowestMs: 0, batches: 0 };
      subjects.push({ what, url, database, backendPid: rows[0].pid, ...nothing });
    }
    for (let round = 0; round < rounds + WARM_UP_ROUNDS; round += 1) {
      if (round % 25 === 0) printProgress(`    ${round} of ${rounds + WARM_UP_ROUNDS} rounds of writes`);
      const orders = Array.from({ length: BATCH }, (_, index) => anOrder(round * BATCH + index));
      for (const subject of round % 2 ? subjects : subjects.toReversed()) {
        await writeOnce(subject, orders, round >= WARM_UP_ROUNDS);
      }
    }
    printProgress('    the search terms of these orders');
    const costs = subjects.map(({ what, microseconds, walBytes, slowestMs, batches }) => {
      const written = batches * BATCH;
      return { what, microseconds: microseconds / written, walBytes: walBytes / written, slowestMs };
    });
    return [...costs, await measureWords(subjects.at(-1) as Subject)];
  } finally {
    await Promise.all(subjects.map(({ database }) => closeDatabase(database)));
  }
}

/** Creates the search terms of the written orders, like the worker after a minute. */
async function measureWords({ url, database }: Subject): Promise<WriteCost> {
  const knex = openKnex({ url, applicationName: 'orders words' });
  try {
    await createAccount(knex, 'The only one');
    await knex.raw("update orders set written_at = written_at - interval '1 hour'");
    await knex.raw('vacuum analyze orders');
    const ticks = async () => {
      const { rows } = await knex.raw("select pid from pg_stat_activity where application_name = 'orders words'");
      return rows.reduce((sum: number, { pid }: { pid: number }) => sum + ticksOf(pid), 0);
    };
    const before = { ticks: await ticks(), wal: await walBytes(database) };
    let [count, slowestMs] = [0, 0];
    const shouldContinue = async (ms: number) => {
      slowestMs = Math.max(slowestMs, ms);
      return true;
    };
    for (let filled = -1; filled !== 0; count += filled) filled = await fillSearchTerms(knex, shouldContinue);
    const microseconds = (((await ticks()) - before.ticks) * TICK_US) / count;
    return {
      what: 'its search terms',
      microseconds,
      walBytes: ((await walBytes(database)) - before.wal) / count,
      slowestMs,
    };
  } finally {
    await knex.destroy();
  }
}

async function writeOnce(subject: Subject, orders: ReturnType<typeof anOrder>[], counts: boolean): Promise<void> {
  const { database, backendPid } = subject;
  const receipts = orders.map((order) => ({
    receiptId: randomUUIDv7(),
    accountId: 1,
    channel: 'rest' as const,
    sourceOrderId: order.source_order_id,
    idempotencyKey: null,
    body: Buffer.from(JSON.stringify(order)),
  }));
  const [batchId, leaseId] = [randomUUIDv7(), randomUUID()];
  const receiptIds = await recordReceipts(database, batchId, 60_000, receipts);
  await claimReceipts(database, receiptIds, leaseId, 60_000);
  const writable = orders.map((order, index) => ({
    ...normalizeOrder(order),
    receiptId: receipts[index]?.receiptId ?? '',
    accountId: 1,
  }));
  const before = { ticks: ticksOf(backendPid), wal: await walBytes(database), at: performance.now() };
  await writeOrders(database, leaseId, [batchId], writable);
  const ms = performance.now() - before.at;
  if (!counts) return;
  subject.batches += 1;
  subject.slowestMs = Math.max(subject.slowestMs, ms);
  subject.walBytes += (await walBytes(database)) - before.wal;
  subject.microseconds += (ticksOf(backendPid) - before.ticks) * TICK_US;
}

function anOrder(number: number) {
  return {
    source_order_id: `SHOP-${String(number).padStart(9, '0')}`,
    customer: {
      name: `${oneOf(FIRST)} ${oneOf(LAST)}`,
      phone: `05${String(Math.floor(Math.random() * 1e8)).padStart(8, '0')}`,
      email: `customer${number}@example.com`,
    },
    address: `Apt ${number % 3000}, Marina Heights, Dubai Marina`,
    emirate: oneOf(['Dubai', 'Dubai', 'Sharjah', 'Abu Dhabi', 'Ajman']),
    area: 'Dubai Marina',
    items: [
      { name: 'Chicken Shawarma', quantity: 2, sku: 'SH-1' },
      { name: 'Karak', quantity: 3 },
    ],
    total: '149.50',
    delivery_instructions: 'Leave it with the guard and call when you are on your way up, please.',
  };
}

/** The user and kernel CPU time of a process. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

async function walBytes({ pool }: Database): Promise<number> {
  const { rows } = await pool.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes");
  return rows[0].bytes;
}

/** Formats the results as a Markdown table. */
export function renderWrites(costs: readonly WriteCost[]): string {
  return [
    '| An order | CPU time of Postgres | WAL | slowest batch of 500 |',
    '| --- | --- | --- | --- |',
    ...costs.map(
      ({ what, microseconds, walBytes, slowestMs }) =>
        `| ${what} | ${microseconds.toFixed(1)} µs | ${walBytes.toFixed(0)} B | ${slowestMs.toFixed(0)} ms |`,
    ),
  ].join('\n');
}
