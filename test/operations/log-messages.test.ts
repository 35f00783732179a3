import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(resolve(ROOT, 'docs/operating/logs.md'), 'utf8');
const SOURCE = globSync('{apps/{intake,worker,portal,notifier},packages/{runtime,database,queue,http}}/src/**/*.ts', {
  cwd: ROOT,
})
  .map((path) => readFileSync(resolve(ROOT, path), 'utf8'))
  .join('\n');

test('docs/operating/logs.md names each warning and error that an app logs', () => {
  const logged = [...SOURCE.matchAll(/logger\.(?:warn|error)\(\s*'([^']+)'/g)].map(([, message]) => message as string);
  const outages = [...SOURCE.matchAll(/createOutageLog\(logger, '([^']+)'/g)].map(
    ([, service]) => `${service} unavailable;`,
  );
  const failures = [...SOURCE.matchAll(/createFailureLog\(database, logger, '([^']+)'/g)].flatMap(([, work]) => [
    `${work} failed;`,
    'Postgres unavailable;',
  ]);
  expect(failures).toContain('batch failed;');
  expect(logged).toContain('maintenance step failed');
  expect(outages).toContain('queue unavailable;');
  expect([...logged, ...outages, ...failures].filter((message) => !PAGE.includes(`\`${message}`))).toEqual([]);
});
