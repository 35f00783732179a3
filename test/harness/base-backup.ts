import { chown, copyFile, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import pg from 'pg';

/** What a copy of a data directory leaves out (PostgreSQL, section 25.3.4.4): Postgres creates it again, or it belongs to the running server. */
const LEFT_OUT =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/|^postmaster\.|(^|\/)(pgsql_tmp|pg_internal\.init)/;

/**
 * Takes a base backup of a running Postgres on this machine by its low-level interface, as `pg_basebackup` would, which does not come with
 * the packages. The WAL from its beginning on has to come from elsewhere: an archive, or the server itself.
 *
 * @param url of a superuser.
 * @param from its data directory.
 * @param to a directory that is not there yet.
 */
export async function takeBaseBackup(url: string, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // One session throughout: it is its end that would give the backup up.
    await client.query("select pg_backup_start('base backup', fast => true)");
    await copyData(from, to);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    await writeOwned(to, 'backup_label', rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
}

/** Has the Postgres that starts on this copy follow a primary (`standby`), or replay an archive and then go on by itself (`recovery`). */
export function markForRecovery(directory: string, as: 'standby' | 'recovery'): Promise<void> {
  return writeOwned(directory, `${as}.signal`, '');
}

async function copyData(from: string, to: string): Promise<void> {
  await makeAlike(from, to);
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (LEFT_OUT.test(path)) continue;
    if (entry.isDirectory()) await makeAlike(join(from, path), join(to, path));
    else await copyOwned(join(from, path), join(to, path));
  }
}

async function makeAlike(from: string, to: string): Promise<void> {
  const { mode, uid, gid } = await lstat(from);
  await mkdir(to, { mode });
  await chown(to, uid, gid);
}

/** A file that vanishes meanwhile is one that the WAL says to remove. */
async function copyOwned(from: string, to: string): Promise<void> {
  try {
    const { uid, gid } = await lstat(from);
    await copyFile(from, to);
    await chown(to, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function writeOwned(directory: string, name: string, text: string): Promise<void> {
  const { uid, gid } = await lstat(directory);
  await writeFile(join(directory, name), text, { mode: 0o600 });
  await chown(join(directory, name), uid, gid);
}
