import { execFile } from 'node:child_process';
import { chown, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { startPostgres } from '@orders/test-services/postgres.ts';
import { markForRecovery, takeBaseBackup } from './base-backup.ts';
import type { TestDatabase } from './database.ts';
import type { FaultyPostgres } from './faulty-postgres.ts';
import { until } from './until.ts';

const execute = promisify(execFile);

/** Settings of a Postgres that archives its WAL next to its data directory. Written data survives a kill of Postgres even without `fsync`. */
export const ARCHIVE_SETTINGS = [
  'fsync=off',
  'archive_mode=on',
  'archive_command=test ! -f ../archive/%f && cp %p ../archive/%f',
];

/** A base backup and the archive of the WAL after it. */
export interface Backup {
  /** Adds the WAL that the killed Postgres had not archived. After the loss of a disk this is not possible. */
  saveLastWal(): Promise<void>;
  /**
   * Starts a Postgres on a copy of the backup and replays the archive.
   *
   * @param settings of the recovery target, such as `recovery_target_name=…`.
   */
  restore(settings?: string[]): Promise<TestDatabase>;
}

/** Takes a base backup of a Postgres with `ARCHIVE_SETTINGS`. Backup and archive are next to its data directory. */
export async function takeBackup(source: FaultyPostgres): Promise<Backup> {
  const [archive, backup] = [join(source.directory, '../archive'), join(source.directory, '../backup')];
  const { uid, gid } = await lstat(source.directory);
  await mkdir(archive);
  await chown(archive, uid, gid);
  await takeBaseBackup(source.directUrl, source.directory, backup);
  let restores = 0;

  return {
    async saveLastWal() {
      const wal = join(source.directory, 'pg_wal');
      const archived = new Set(await readdir(archive));
      const left = (await readdir(wal)).filter((name) => /^[0-9A-F]{24}$/.test(name) && !archived.has(name));
      for (const name of left) await execute('cp', ['-p', join(wal, name), archive]);
    },
    async restore(settings = []) {
      restores += 1;
      const directory = join(source.directory, `../restored-${restores}`);
      await execute('cp', ['-Rp', backup, directory]);
      await markForRecovery(directory, 'recovery');
      const { password } = new URL(source.url);
      const postgres = await startPostgres({
        directory,
        password,
        port: await freePort(),
        settings: ['fsync=off', 'restore_command=cp ../archive/%f %p', 'recovery_target_action=promote', ...settings],
      });
      const knex = openKnex({ url: postgres.url, applicationName: 'orders test' });
      await until('the archive is replayed', async () => {
        const { rows } = await knex.raw('select pg_is_in_recovery() as replaying');
        return !rows[0].replaying;
      });
      return {
        url: postgres.url,
        directUrl: postgres.url,
        knex,
        db: connectionOf(knex),
        async close() {
          await knex.destroy();
          await postgres.stop('SIGQUIT');
        },
      };
    },
  };
}
