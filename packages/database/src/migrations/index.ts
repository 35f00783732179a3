import * as schema from './001-schema.ts';

/** A step from one version of the schema to the next; "Migrations" in CONTRIBUTING has its rules. */
export interface Migration {
  name: string;
  /**
   * A string runs in a transaction. A list is for what Postgres cannot do in one, such as `create index concurrently`: its statements run
   * one by one, and all of them again after a failure.
   */
  up: string | readonly string[];
}

/** Every migration, in order. */
export const MIGRATIONS: readonly Migration[] = [schema];

/** The schema is what this version needs once this one has run. */
export const NEWEST_MIGRATION = (MIGRATIONS.at(-1) as Migration).name;
