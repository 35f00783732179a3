import knex, { type Knex } from 'knex';
import { readSetting } from '../environment.ts';

export function openKnex(connections: number): Knex {
  return knex({
    client: 'pg',
    connection: readSetting('DATABASE_URL'),
    pool: { min: connections, max: connections },
  });
}
