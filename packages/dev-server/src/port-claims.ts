import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The ports that the clones of this machine have claimed, as one clone sees them. */
export interface Claims {
  /** The directory of the other clone that claimed a port, or null. */
  otherOwner(port: number): string | null;
  /** Claims a port, unless another clone has. */
  add(port: number): void;
}

/** One for each user, so that users need no rights on files of others. */
const REGISTRY = join(tmpdir(), `order-ingestion-ports-${userInfo().uid}`);
/** Other clones hold the lock for milliseconds. */
const LOCK_TIMEOUT_MS = 30_000;

/**
 * Replaces the claims of a clone by those that `work` adds, while no other clone reads or changes claims. A failed `work` changes nothing.
 * The lock is SQLite's: it ends with its process. Claims of removed clones are dropped.
 *
 * @param clone.directory where the clone keeps its data.
 */
export async function withClaims<T>(
  { directory, registry = REGISTRY }: { directory: string; registry?: string },
  work: (claims: Claims) => Promise<T>,
): Promise<T> {
  mkdirSync(registry, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(registry, 'claims.sqlite'), { timeout: LOCK_TIMEOUT_MS });
  try {
    database.exec('begin immediate');
    database.exec('create table if not exists claims (port integer primary key, directory text not null)');
    const claims = database.prepare('select port, directory from claims').all() as {
      port: number;
      directory: string;
    }[];
    const remove = database.prepare('delete from claims where port = ?');
    for (const claim of claims)
      if (claim.directory === directory || !existsSync(claim.directory)) remove.run(claim.port);
    const find = database.prepare('select directory from claims where port = ? and directory <> ?');
    const insert = database.prepare('insert or ignore into claims (port, directory) values (?, ?)');
    const result = await work({
      otherOwner: (port) => (find.get(port, directory)?.directory as string | undefined) ?? null,
      add: (port) => void insert.run(port, directory),
    });
    database.exec('commit');
    return result;
  } finally {
    database.close();
  }
}
