import { execFile } from 'node:child_process';
import { chown, copyFile, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import {
  type FaultyPostgres as Server,
  startFaultyPostgres as startServer,
} from '@orders/test-services/faulty-postgres.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { startPostgres } from '@orders/test-services/postgres.ts';
import { until } from '@orders/test-services/until.ts';
import pg from 'pg';
import { closeAtEnd } from './close-at-end.ts';
import type { TestDatabase } from './database.ts';
import type { FaultyPostgres } from './faulty-postgres.ts';

/** Files that a copy of a data directory omits (PostgreSQL manual, section 25.3.4.4): they are recreated or belong to the running server. */
const OMITTED_FILES =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/|^postmaster\.|(^|\/)(pgsql_tmp|pg_internal\.init)/;

/**
 * Takes a base backup of a running Postgres on this machine with the low-level API, as the embedded Postgres has no `pg_basebackup`. The
 * backup contains no WAL: it must come from an archive or from the server itself.
 *
 * @param url must be a superuser's.
 * @param from the data directory of this Postgres.
 * @param to a directory that does not exist.
 */
async function takeBaseBackup(url: string, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // All in one session: when it ends, Postgres aborts the backup.
    await client.query("select pg_backup_start('base backup', fast => true)");
    await copyData(from, to);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    await writeWithOwner(to, 'backup_label', rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
}

/** Makes a Postgres that is started on this copy follow a primary (`standby`), or replay an archive and then be a primary (`recovery`). */
function markForRecovery(directory: string, as: 'standby' | 'recovery'): Promise<void> {
  return writeWithOwner(directory, `${as}.signal`, '');
}

async function copyData(from: string, to: string): Promise<void> {
  await createDirectoryLike(from, to);
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (OMITTED_FILES.test(path)) continue;
    if (entry.isDirectory()) await createDirectoryLike(join(from, path), join(to, path));
    else await copyWithOwner(join(from, path), join(to, path));
  }
}

async function createDirectoryLike(from: string, to: string): Promise<void> {
  const { mode, uid, gid } = await lstat(from);
  await mkdir(to, { mode });
  await chown(to, uid, gid);
}

/** Ignores a file that is deleted meanwhile: the WAL contains its deletion. */
async function copyWithOwner(from: string, to: string): Promise<void> {
  try {
    const { uid, gid } = await lstat(from);
    await copyFile(from, to);
    await chown(to, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function writeWithOwner(directory: string, name: string, text: string): Promise<void> {
  const { uid, gid } = await lstat(directory);
  await writeFile(join(directory, name), text, { mode: 0o600 });
  await chown(join(directory, name), uid, gid);
}

const execute = promisify(execFile);

/** Settings of a Postgres that archives its WAL next to its data directory. Written data survives a kill of Postgres even without `fsync`. */
export const ARCHIVE_SETTINGS = [
  'fsync=off',
  'archive_mode=on',
  `archive_command='${process.execPath}' -e 'fs.copyFileSync(process.argv[1], process.argv[2], 1)' %p ../archive/%f`,
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

/**
 * Settings of a Postgres that gets a standby: it keeps the WAL that is written while the standby is created. Written data survives a kill of
 * Postgres even without `fsync`.
 */
export const STANDBY_SETTINGS = ['fsync=off', 'wal_keep_size=256MB'];

/** A Postgres that replicates a primary by streaming. */
export interface Standby {
  readonly server: Server;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Pauses the replay: queries do not see new commits until `catchUp`. */
  fallBehind(): Promise<void>;
  /** Resumes the replay and waits until queries see everything that the primary has committed. */
  catchUp(): Promise<void>;
  /** Promotes it to primary and moves it to the address of the killed primary, as a change of DNS would in production. */
  takeOver(): Promise<void>;
}

/** Starts a standby of a running Postgres. Its data is next to that of the primary. */
export async function startStandby(primary: FaultyPostgres): Promise<Standby> {
  const directory = join(primary.directory, '../standby');
  await takeBaseBackup(primary.directUrl, primary.directory, directory);
  await markForRecovery(directory, 'standby');
  const { hostname, port, username, password } = new URL(primary.directUrl);
  let server = await startServer({
    directory,
    password,
    port: await freePort(),
    settings: [
      'fsync=off',
      `primary_conninfo=host=${hostname} port=${port} user=${username} password=${password} application_name=standby`,
    ],
  });
  const query: Standby['query'] = async (text) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return (await client.query(text).finally(() => client.end())).rows;
  };
  closeAtEnd({ close: () => server.close() });
  return {
    get server() {
      return server;
    },
    query,
    async takeOver() {
      await query('select pg_promote()');
      await server.shutDown();
      server = await startServer({ directory, password, port: Number(port), settings: ['fsync=off'] });
    },
    async fallBehind() {
      await query('select pg_wal_replay_pause()');
      await until('the replay is paused', async () => {
        const [row] = await query('select pg_get_wal_replay_pause_state() as state');
        return row?.state === 'paused';
      });
    },
    async catchUp() {
      const { rows } = await primary.knex.raw('select pg_current_wal_lsn() as lsn');
      await query('select pg_wal_replay_resume()');
      await until('the standby has caught up', async () => {
        const [row] = await query(`select pg_last_wal_replay_lsn() >= '${rows[0].lsn}' as caught_up`);
        return row?.caught_up;
      });
    },
  };
}
