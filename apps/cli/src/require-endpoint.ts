import { type Endpoint, findAnyEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { Failure } from './errors.ts';
import type { Knex } from './with-database.ts';

/**
 * Finds an endpoint by its id.
 *
 * @throws {Failure} if there is none.
 */
export async function requireEndpoint(knex: Knex, endpointId: string): Promise<Endpoint> {
  const endpoint = await findAnyEndpoint(knex, endpointId);
  if (endpoint) return endpoint;
  throw new Failure('No endpoint has this id; orders endpoints list <account> shows those of an account.');
}
