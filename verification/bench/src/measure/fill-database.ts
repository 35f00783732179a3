import { migrate } from '@orders/database/migrate.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import type { Knex } from 'knex';
import { printProgress } from '../command-line.ts';

interface Filling<Result> {
  /** SQL that makes the rows number `first` to `last`, from 1. */
  statementsFor(first: number, last: number): string[];
  /** Is called after each part, with the number of rows so far. */
  afterPart(stored: number): Promise<void>;
  result: Result;
}

/**
 * Fills an empty database with rows that follow from their numbers.
 *
 * @param options `chunk` is the number of rows of one part; a part ends at `cut`.
 * @param prepare runs after the migrations.
 */
export function fillDatabase<Result = void>(
  url: string,
  { rows, chunk, cut = rows }: { rows: number; chunk: number; cut?: number },
  prepare: (knex: Knex) => Promise<Filling<Result>>,
): Promise<Result> {
  return withKnex({ url, applicationName: 'orders bench' }, async (knex) => {
    await migrate(connectionOf(knex));
    const { statementsFor, afterPart, result } = await prepare(knex);
    for (let stored = 0; stored < rows; ) {
      const last = Math.min(stored + chunk, stored < cut ? cut : rows);
      for (const statement of statementsFor(stored + 1, last)) await knex.raw(statement);
      stored = last;
      printProgress(`    ${stored.toLocaleString('en')} of ${rows.toLocaleString('en')} orders stored`);
      await afterPart(stored);
    }
    return result;
  });
}
