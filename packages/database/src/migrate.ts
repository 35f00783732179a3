import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { sqlstateOf } from './database-errors.ts';
import * as initial from './migrations/001-initial.ts';
import * as payloadsByBatch from './migrations/002-payloads-by-batch.ts';
import * as accountRateLimits from './migrations/003-account-rate-limits.ts';
import * as usersAndAudit from './migrations/004-users-and-audit.ts';
import * as reviewList from './migrations/005-review-list.ts';
import * as rejectedDeliveries from './migrations/006-rejected-deliveries.ts';
import * as activity from './migrations/007-activity.ts';
import * as erasure from './migrations/008-erasure.ts';
import * as erasedReceipts from './migrations/009-erased-receipts.ts';
import * as resends from './migrations/010-resends.ts';
import * as holdResends from './migrations/011-hold-resends.ts';
import * as idempotencyKeysByTime from './migrations/012-idempotency-keys-by-time.ts';
import * as autovacuum from './migrations/013-autovacuum.ts';
import * as outboxAccounts from './migrations/014-outbox-accounts.ts';
import * as resendsReceivedAt from './migrations/015-resends-received-at.ts';
import * as dispatchOnThePrimary from './migrations/016-dispatch-on-the-primary.ts';
import * as outboxAndResendsIndexes from './migrations/017-outbox-and-resends-indexes.ts';
import { makePartitions } from './receipts/make-partitions.ts';

/** A step of the schema's way forward; CONTRIBUTING has the rules that `test/migrations.test.ts` holds it to. */
export interface Migration {
  name: string;
  /**
   * A text runs in a transaction. A list is for what Postgres refuses to do in one, such as `create index concurrently`: its statements run
   * one by one, and all of them again when one has failed or the process was killed.
   */
  up: string | readonly string[];
}

/** Every migration, in order. Append only: one that has run anywhere is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  payloadsByBatch,
  accountRateLimits,
  usersAndAudit,
  reviewList,
  rejectedDeliveries,
  activity,
  erasure,
  erasedReceipts,
  resends,
  holdResends,
  idempotencyKeysByTime,
  autovacuum,
  outboxAccounts,
  resendsReceivedAt,
  dispatchOnThePrimary,
  outboxAndResendsIndexes,
];

/** The schema is what this version needs once this one has run. */
export const NEWEST_MIGRATION = (MIGRATIONS.at(-1) as Migration).name;

// Any number will do that nothing else in this database locks.
const MIGRATION_LOCK = 7_310_441;

// Whoever writes to a table waits behind a migration that waits for its lock.
const LOCK_TIMEOUT = '2s';
// Not to be had in time, or the one to end of a deadlock with who locks the same tables in another order.
const NO_LOCK = ['55P03', '40P01'];
const REST_MS = 2000;
const PATIENCE_MS = 300_000;
const LOOK_AGAIN_MS = 200;

/** `runMigrations` with all there are. */
export async function migrate(knex: Knex): Promise<string[]> {
  return runMigrations(knex, MIGRATIONS);
}

/**
 * Brings the schema up to date and makes the partitions of the weeks ahead. Two at once: the second waits, then finds nothing to do. A
 * schema that is newer than `migrations` is left as it is, so that a version can be taken back.
 *
 * @returns the names of the migrations that ran.
 * @throws {pg.DatabaseError} 55P03 or 40P01 when a lock was not to be had for five minutes; what ran before stays.
 */
export async function runMigrations(knex: Knex, migrations: readonly Migration[]): Promise<string[]> {
  return knex.transaction(async (guard) => {
    await takeTurn(guard);
    // knex's own lock outlives a killed process; ours does not, and it is held, so a leftover of knex's can be cleared.
    const tableName = 'schema_migrations';
    const config: Knex.MigratorConfig = {
      migrationSource: sourceOf(migrations),
      tableName,
      disableMigrationsListValidation: true,
    };
    if (await knex.schema.hasTable(`${tableName}_lock`)) await knex.migrate.forceFreeMigrationsLock(config);
    const ran: string[] = [];
    for (;;) {
      // One by one, so that none holds the locks of those before it.
      const [, [name]] = await untilGranted<[number, string[]]>(() => knex.migrate.up(config));
      if (!name) break;
      ran.push(name);
    }
    await untilGranted(() => makePartitions(knex));
    return ran;
  });
}

// What would end a transaction that is idle while its process migrates; the second is there from Postgres 17 on.
const STAY = `select set_config(name, '0', true) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

/**
 * Asks again and again: `create index concurrently` waits for every snapshot there is, so for a statement of another that would wait here,
 * and that for it. A statement with parameters keeps its snapshot in a transaction even when it is done.
 */
async function takeTurn(guard: Knex.Transaction): Promise<void> {
  await guard.raw(STAY);
  for (;;) {
    const { rows } = await guard.raw(`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as taken`);
    if (rows[0].taken) return;
    await sleep(LOOK_AGAIN_MS);
  }
}

function sourceOf(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: ({ name }) => name,
    getMigration: async ({ up }) => ({
      config: { transaction: typeof up === 'string' },
      up: (db) => (typeof up === 'string' ? runBriefly(db, up) : runEach(db, up)),
      down: async () => {
        throw new Error('Migrations only go forward; restore a backup to go back.');
      },
    }),
  };
}

async function runBriefly(trx: Knex, sql: string): Promise<void> {
  await trx.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  await trx.raw(sql);
}

/** Without a limit: what runs outside a transaction is of the kind that waits without holding up who writes. */
async function runEach(knex: Knex, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await knex.raw(statement);
}

/** Tries again, after letting those pass who wait behind it, for as long as a lock is not to be had. */
export async function untilGranted<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!NO_LOCK.includes(sqlstateOf(error) ?? '') || Date.now() > deadline) throw error;
      await sleep(REST_MS);
    }
  }
}
