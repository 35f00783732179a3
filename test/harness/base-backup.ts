import { chown, copyFile, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import pg from 'pg';

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
export async function takeBaseBackup(url: string, from: string, to: string): Promise<void> {
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
export function markForRecovery(directory: string, as: 'standby' | 'recovery'): Promise<void> {
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
