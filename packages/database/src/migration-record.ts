import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { FORMER_NAMES, type Migration } from './migrations/index.ts';

const RAN = 'schema_migrations';
// A table of its own, as knex creates and writes schema_migrations, here and in the versions before checksums.
const CHECKSUMS = 'schema_migrations_checksums';

/** How the migrations of this version stand to those that ran in a database. */
export interface MigrationPlan {
  /** What `migrate` would run, in order, and whether each runs in a transaction. */
  pending: { name: string; transaction: boolean }[];
  /** Those that ran with different SQL than this version has. */
  drift: string[];
  /** Those that ran and that this version does not know, as after going back to it. */
  unknown: string[];
}

/** A migration ran with different SQL than this version has, so its name does not tell what the schema is. */
export class SchemaDriftError extends Error {
  readonly migrations: readonly string[];

  constructor(migrations: readonly string[]) {
    super(`migrations ran with different SQL: ${migrations.join(', ')}`);
    this.migrations = migrations;
  }
}

/** @returns the SHA-256 of a migration's `up`, in hex. As JSON, so that a list never equals a string or another list. */
export function checksumOf({ up }: Pick<Migration, 'up'>): string {
  return createHash('sha256').update(JSON.stringify(up)).digest('hex');
}

/** Reads, and changes nothing; in an empty database all migrations are pending. */
export async function readPlan(knex: Knex, migrations: readonly Migration[]): Promise<MigrationPlan> {
  const record = await readRecord(knex);
  const known = new Set([...migrations.map(({ name }) => name), ...FORMER_NAMES.keys()]);
  return {
    pending: migrations
      .filter(({ name }) => !record.has(name))
      .map(({ name, up }) => ({ name, transaction: typeof up === 'string' })),
    drift: migrations.filter((one) => hasDrifted(record.get(one.name), one)).map(({ name }) => name),
    unknown: [...record.keys()].filter((name) => !known.has(name)),
  };
}

function hasDrifted(checksum: string | null | undefined, migration: Migration): boolean {
  return typeof checksum === 'string' && checksum !== checksumOf(migration);
}

/** @returns the migrations that ran, each with its checksum; null where it ran before checksums were stored. */
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
 * Makes the record complete before anything runs. Migrations that ran under a former name get the present one as well; the former stays for
 * the version that looks for it. Those that ran before checksums were stored get the checksum of this version: 018 makes the schema the
 * same, whether 010 ran before or after it was edited.
 *
 * @param accepted names of migrations whose checksum becomes that of this version.
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

/** Stores the checksum of a migration that runs, in its transaction where it has one. */
export async function recordChecksum(knex: Knex, migration: Migration): Promise<void> {
  await knex(CHECKSUMS)
    .insert({ name: migration.name, checksum: checksumOf(migration) })
    .onConflict('name')
    .merge();
}
