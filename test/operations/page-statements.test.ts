import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDatabase } from '../harness/use-stack.ts';

const ROOT = join(import.meta.dirname, '../..');
const { db } = useDatabase();

/** The queries of the operators' pages, without those that end a session or change something. */
const QUERIES = execFileSync('git', ['ls-files', 'docs/operating'], { cwd: ROOT, encoding: 'utf8' })
  .trim()
  .split('\n')
  .flatMap((page) => [...readFileSync(join(ROOT, page), 'utf8').matchAll(/psql -c "(select [^"]+)"/g)])
  .map(([, query = '']) => query)
  .filter((query) => !/pg_terminate_backend|pg_drop_replication_slot|setval/.test(query));

test('the pages have queries', () => {
  expect(QUERIES.length).toBeGreaterThan(15);
});

test.each(QUERIES)('a query of the operators’ pages runs: %s', async (query) => {
  const { rows } = await db.knex.raw(query);
  expect(rows).toBeInstanceOf(Array);
});
