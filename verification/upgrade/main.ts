/**
 * Upgrades a running service of an older revision to this working tree under load, and takes it back again:
 *
 *     npm run test:upgrade -- [REVISION]
 *
 * The revision is the newest release unless one is named. Postgres, Redis, haproxy and all processes are its own, on the loopback.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkOut, newestRelease } from './check-out.ts';
import { testUpgrade } from './test-upgrade.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

const revision = process.argv[2] ?? (await newestRelease());
if (!revision) {
  process.stderr.write(
    'Nothing is released yet: there is no tag v*. Name a revision: npm run test:upgrade -- <revision>\n',
  );
  process.exit(2);
}
const directory = await mkdtemp(join(tmpdir(), 'orders-upgrade-'));
try {
  say(`Installing ${revision}.`);
  const old = join(directory, 'old');
  await mkdir(old);
  await checkOut(revision, old);
  const failures = await testUpgrade({ old, directory, say });
  for (const failure of failures) say(`FAILED  ${failure}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
} finally {
  await rm(directory, { recursive: true, force: true });
}
