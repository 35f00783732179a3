import { createAccount } from '@orders/database/accounts/accounts.ts';
import { migrate } from '@orders/database/migrate.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import { printProgress } from '../command-line.ts';
import { walPosition } from '../measure/postgres.ts';
import { usageOfAll } from '../measure/processes.ts';
import { type BatchCost, makeBatch, openWriter, type Writer, writeBatch } from '../measure/write-batch.ts';
import type { Services } from '../services.ts';

/** The variants without certain indexes, to measure their cost. */
const VARIANTS = [
  { what: 'written without the indexes of the list', drop: ['orders_needing_review', 'orders_reviewed'] },
  { what: 'written', drop: [] },
];
const WARM_UP_ROUNDS = 5;

interface Subject extends Writer {
  what: string;
  url: string;
  costs: BatchCost[];
}

/**
 * Writes batches like the worker, in turn with and without the indexes of the list, and then creates the search terms.
 *
 * @returns the costs by what was done.
 */
export async function measureWrites(services: Services, rounds: number): Promise<Record<string, BatchCost[]>> {
  const subjects: Subject[] = [];
  try {
    for (const [number, { what, drop }] of VARIANTS.entries()) {
      const url = await services.fresh(`writes_${number}`);
      await withKnex({ url, applicationName: 'orders bench' }, async (knex) => {
        await migrate(connectionOf(knex));
        for (const index of drop) await knex.raw(`drop index ${index}`);
      });
      subjects.push({ what, url, costs: [], ...(await openWriter(url)) });
    }
    for (let round = 0; round < rounds + WARM_UP_ROUNDS; round += 1) {
      if (round % 25 === 0) printProgress(`    ${round} of ${rounds + WARM_UP_ROUNDS} rounds of writes`);
      const orders = makeBatch(round);
      for (const subject of round % 2 ? subjects : subjects.toReversed()) {
        const cost = await writeBatch(subject, 1, orders);
        if (round >= WARM_UP_ROUNDS) subject.costs.push(cost);
      }
    }
    printProgress('    the search terms of these orders');
    const written = Object.fromEntries(subjects.map(({ what, costs }) => [what, costs]));
    return { ...written, 'its search terms': await measureWords(subjects.at(-1) as Subject) };
  } finally {
    await Promise.all(subjects.map(({ close }) => close()));
  }
}

/** Creates the search terms of the written orders, like the worker after a minute. @returns the cost of each batch, on average. */
async function measureWords({ url, database }: Subject): Promise<BatchCost[]> {
  return withKnex({ url, applicationName: 'orders words' }, async (knex) => {
    await createAccount(connectionOf(knex), 'The only one');
    await knex.raw("update orders set written_at = written_at - interval '1 hour'");
    await knex.raw('vacuum analyze orders');
    const read = async () => {
      const { rows } = await knex.raw("select pid from pg_stat_activity where application_name = 'orders words'");
      return { cpu: (await usageOfAll(rows)).cpuSeconds, wal: await walPosition(database.pool) };
    };
    const before = await read();
    const times: number[] = [];
    const noteTime = async (ms: number) => times.push(ms) > 0;
    let count = 0;
    for (let filled = -1; filled !== 0; count += filled) filled = await fillSearchTerms(connectionOf(knex), noteTime);
    const after = await read();
    const share = 1 / times.length;
    const microseconds = (after.cpu - before.cpu) * 1e6 * share;
    return times.map((ms) => ({ orders: count * share, ms, microseconds, walBytes: (after.wal - before.wal) * share }));
  });
}
