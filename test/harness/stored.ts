import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuditEvent, listAudit } from '@orders/database/audit.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { Redis } from 'ioredis';
import type { Knex } from 'knex';

const TABLES = ['receipts', 'receipt_payloads', 'idempotency_keys', 'outbox', 'orders'];

/** The number of rows in all tables that an order is written to. */
export async function countStored(knex: Knex): Promise<number> {
  const counts = TABLES.map((table) => `(select count(*) from ${table})`);
  const { rows } = await knex.raw(`select ${counts.join(' + ')} as stored`);
  return Number(rows[0].stored);
}

/** The rows of every table of a database as text. The columns in `apart` are returned separately from the rest. */
export async function readTables(
  knex: Knex,
  apart: Record<string, string[]>,
): Promise<{ apart: Record<string, string>; rest: string }> {
  const { rows: tables } = await knex.raw<{ rows: { schema: string; name: string }[] }>(`
    select nspname as schema, relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where relkind in ('r', 'p') and not relispartition and nspname !~ '^pg_' and nspname <> 'information_schema'`);
  const read = { apart: {} as Record<string, string>, rest: '' };
  for (const { schema, name } of tables) {
    const { rows } = await knex.raw<{ rows: { row: Record<string, unknown> }[] }>(
      'select to_jsonb(t) as row from ??.?? t',
      [schema, name],
    );
    for (const { row } of rows) {
      for (const column of apart[name] ?? []) {
        read.apart[name] = `${read.apart[name] ?? ''}${JSON.stringify(row[column])}\n`;
        delete row[column];
      }
      read.rest += `${name} ${JSON.stringify(row)}\n`;
    }
  }
  return read;
}

/** All keys of a Redis with their values. */
export async function readRedis(url: string): Promise<string> {
  const redis = new Redis(url);
  let text = '';
  for (const key of await redis.keys('*')) text += `${key} ${JSON.stringify(await readKey(redis, key))}\n`;
  await redis.quit();
  return text;
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return redis.get(key);
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'list') return redis.lrange(key, 0, -1);
  if (type === 'set') return redis.smembers(key);
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'stream') return redis.xrange(key, '-', '+');
  // The key expired meanwhile.
  if (type === 'none') return null;
  throw new Error(`cannot read a key of type ${type}`);
}

/** The contents of all files below a directory, concatenated. */
export async function readFiles(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
}

const OF_PEOPLE = ['signed_in', 'signed_out', 'sign_in_failed', 'personal_data_read'];

/** Whether an audit event is about a change, and not about a sign-in or a read. */
export const isChange = ({ action }: Pick<AuditEvent, 'action'>): boolean => !OF_PEOPLE.includes(action);

/** The changes of an account, newest first. */
export async function listChanges(
  db: Knex,
  accountId: number,
  limit = 100,
): Promise<Pick<AuditEvent, 'actor' | 'action' | 'subject' | 'details'>[]> {
  const events = await listAudit(connectionOf(db), { accountId, limit });
  return events.filter(isChange).map(({ actor, action, subject, details }) => ({ actor, action, subject, details }));
}

/** The stored bodies of receipts, by receipt id. */
export async function readBodies(knex: Knex, receiptIds: string[]): Promise<Map<string, Buffer>> {
  const { rows } = await knex.raw<{ rows: { receipt_id: string; body: Buffer }[] }>(
    `select r.receipt_id, substring(p.bodies from r.body_start for r.body_length) as body
     from receipts r join receipt_payloads p using (batch_id, account_id) where r.receipt_id = any(?)`,
    [[...receiptIds]],
  );
  return new Map(rows.map(({ receipt_id, body }) => [receipt_id, body]));
}
