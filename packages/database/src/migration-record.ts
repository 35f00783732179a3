import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Migration } from './migrations/index.ts';

const RAN = 'schema_migrations';
// A separate table, as knex owns schema_migrations.
const CHECKSUMS = 'schema_migrations_checksums';

/** Compares the migrations of this version with those that ran in a database. */
export interface MigrationPlan {
  /** Migrations that `migrate` would run, in order. */
  pending: { name: string; transaction: boolean }[];
  /** Migrations that ran with different SQL than in this version. */
  drift: string[];
  /** Migrations that ran and that this version does not know, as after a rollback to it. */
  unknown: string[];
}

/** A migration ran with different SQL than in this version, so the schema is unknown. */
export class SchemaDriftError extends Error {
  readonly migrations: readonly string[];

  constructor(migrations: readonly string[]) {
    super(`migrations ran with different SQL: ${migrations.join(', ')}`);
    this.migrations = migrations;
  }
}

/** @returns the SHA-256 of a migration's `up`, in hex. It hashes JSON, so that a list never equals a string or another list. */
export function checksumOf({ up }: Pick<Migration, 'up'>): string {
  return createHash('sha256').update(JSON.stringify(up)).digest('hex');
}

/** Changes nothing; in an empty database all migrations are pending. */
export async function readPlan(knex: Knex, migrations: readonly Migration[]): Promise<MigrationPlan> {
  const record = await readRecord(knex);
  const known = new Set(migrations.map(({ name }) => name));
  return {
    pending: migrations
      .filter(({ name }) => !record.has(name))
      .map(({ name, up }) => ({ name, transaction: typeof up === 'string' })),
    drift: migrations.filter((migration) => hasDrifted(record.get(migration.name), migration)).map(({ name }) => name),
    unknown: [...record.keys()].filter((name) => !known.has(name)),
  };
}

function hasDrifted(checksum: string | null | undefined, migration: Migration): boolean {
  return typeof checksum === 'string' && checksum !== checksumOf(migration);
}

/** @returns checksums of the migrations that ran, by name and in order. */
async function readRecord(knex: Knex): Promise<Map<string, string | null>> {
  if (!(await knex.schema.hasTable(RAN))) return new Map();
  const rows: { name: string; checksum: string | null }[] = await knex(RAN)
    .leftJoin(CHECKSUMS, `${CHECKSUMS}.name`, `${RAN}.name`)
    .orderBy(`${RAN}.id`)
    .select(`${RAN}.name`, 'checksum');
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/**
 * Creates the table of checksums, before knex creates its own.
 *
 * @param accepted names of migrations whose checksums are replaced by those of this version.
 */
export async function prepareRecord(
  knex: Knex,
  migrations: readonly Migration[],
  accepted: readonly string[],
): Promise<void> {
  await knex.transaction(async (trx) => {
    await trx.raw(`create table if not exists ${CHECKSUMS} (name text primary key, checksum text not null)`);
    const { drift } = await readPlan(trx, migrations);
    for (const migration of migrations)
      if (drift.includes(migration.name) && accepted.includes(migration.name)) await recordChecksum(trx, migration);
  });
}

/** Stores the checksum of a migration; called in its transaction if it has one. */
export async function recordChecksum(knex: Knex, migration: Migration): Promise<void> {
  await knex(CHECKSUMS)
    .insert({ name: migration.name, checksum: checksumOf(migration) })
    .onConflict('name')
    .merge();
}
