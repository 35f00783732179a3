import { createAccount } from '@orders/database/accounts/accounts.ts';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { migrate } from '@orders/database/migrate.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import {
  cpuMicroseconds,
  makeSampleOrder,
  type SampleOrder,
  type Writer,
  walBytes,
  writeBatch,
} from '../measure/write-batch.ts';
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

interface Subject extends WriteCost, Writer {
  url: string;
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
      await migrate(connectionOf(knex));
      for (const index of drop) await knex.raw(`drop index ${index}`);
      await knex.destroy();
      const database = openDatabase({ url, poolSize: 1, prepared: true, bulk: true });
      const { rows } = await database.pool.query('select pg_backend_pid() as pid');
      const nothing = { microseconds: 0, walBytes: 0, slowestMs: 0, batches: 0 };
      subjects.push({ what, url, database, backendPid: rows[0].pid, ...nothing });
    }
    for (let round = 0; round < rounds + WARM_UP_ROUNDS; round += 1) {
      if (round % 25 === 0) printProgress(`    ${round} of ${rounds + WARM_UP_ROUNDS} rounds of writes`);
      const orders = Array.from({ length: BATCH }, (_, index) => makeSampleOrder(round * BATCH + index));
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
    await createAccount(connectionOf(knex), 'The only one');
    await knex.raw("update orders set written_at = written_at - interval '1 hour'");
    await knex.raw('vacuum analyze orders');
    const cpu = async () => {
      const { rows } = await knex.raw("select pid from pg_stat_activity where application_name = 'orders words'");
      return rows.reduce((sum: number, { pid }: { pid: number }) => sum + cpuMicroseconds(pid), 0);
    };
    const before = { cpu: await cpu(), wal: await walBytes(database) };
    let [count, slowestMs] = [0, 0];
    const shouldContinue = async (ms: number) => {
      slowestMs = Math.max(slowestMs, ms);
      return true;
    };
    for (let filled = -1; filled !== 0; count += filled)
      filled = await fillSearchTerms(connectionOf(knex), shouldContinue);
    const microseconds = ((await cpu()) - before.cpu) / count;
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

async function writeOnce(subject: Subject, orders: SampleOrder[], counts: boolean): Promise<void> {
  const cost = await writeBatch(subject, 1, orders);
  if (!counts) return;
  subject.batches += 1;
  subject.slowestMs = Math.max(subject.slowestMs, cost.ms);
  subject.walBytes += cost.walBytes;
  subject.microseconds += cost.microseconds;
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
