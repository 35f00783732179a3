import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { FORMER_NAMES, type Migration } from './migrations/index.ts';

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
  const known = new Set([...migrations.map(({ name }) => name), ...FORMER_NAMES.keys()]);
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

/** @returns checksums of the migrations that ran, by name; null for those that ran before checksums were stored. */
async function readRecord(knex: Knex): Promise<Map<string, string | null>> {
  const record = new Map<string, string | null>();
  if (!(await knex.schema.hasTable(RAN))) return record;
  for (const name of await knex(RAN).orderBy('id').pluck<string[]>('name')) {
    record.set(name, null);
    const present = FORMER_NAMES.get(name);
    if (present) record.set(present, null);
  }
  if (!(await knex.schema.hasTable(CHECKSUMS))) return record;
  const checksums = await knex(CHECKSUMS).select<{ name: string; checksum: string }[]>('name', 'checksum');
  for (const { name, checksum } of checksums) if (record.has(name)) record.set(name, checksum);
  return record;
}

/**
 * Completes the record before migrations run. Migrations that ran under a former name get the present name as well; the former name stays
 * for older versions. Migrations that ran before checksums were stored get the checksum of this version: 018 makes the schema the same,
 * whether 010 ran before or after it was edited.
 *
 * @param accepted names of migrations whose checksums are replaced by those of this version.
 */
export async function completeRecord(
  knex: Knex,
  migrations: readonly Migration[],
  accepted: readonly string[],
): Promise<void> {
  await knex.transaction(async (trx) => {
    await trx.raw(`create table if not exists ${CHECKSUMS} (name text primary key, checksum text not null)`);
    if (!(await trx.schema.hasTable(RAN))) return;
    for (const [former, present] of FORMER_NAMES)
      await trx.raw(
        `insert into ${RAN} (name, batch, migration_time) select ?, batch, migration_time from ${RAN}
         where name = ? and not exists (select from ${RAN} where name = ?)`,
        [present, former, present],
      );
    const record = await readRecord(trx);
    for (const migration of migrations) {
      const checksum = record.get(migration.name);
      const replaces = accepted.includes(migration.name) && hasDrifted(checksum, migration);
      if (checksum === null || replaces) await recordChecksum(trx, migration);
    }
  });
}

/** Stores the checksum of a migration; called in its transaction if it has one. */
export async function recordChecksum(knex: Knex, migration: Migration): Promise<void> {
  await knex(CHECKSUMS)
    .insert({ name: migration.name, checksum: checksumOf(migration) })
    .onConflict('name')
    .merge();
}
