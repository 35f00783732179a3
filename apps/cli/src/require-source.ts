import { listSources, type Source } from '@orders/database/sources/sources.ts';
import { isSourceId } from '@orders/domain/api-key.ts';
import { Failure } from './errors.ts';
import { requireAccount } from './require-account.ts';
import type { Knex } from './with-database.ts';

/**
 * Finds a source of an account by its number, its id or its exact name. Digits are always a number.
 *
 * @throws {Failure} if there is none, or more than one.
 */
export async function requireSource(knex: Knex, account: string, reference: string): Promise<Source> {
  const { account_id } = await requireAccount(knex, account);
  const sources = await listSources(knex, account_id);
  const found = sources.filter(matcherOf(reference));
  const [source] = found;
  // The id in a URL is not printed, because a reader of the output could send to that URL.
  const what = isSourceId(reference) ? 'this id' : /^\d+$/.test(reference) ? `the number ${reference}` : 'this name';
  if (!source)
    throw new Failure(
      `No source of account ${account_id} has ${what}; orders sources list ${account_id} shows them all.`,
    );
  if (found.length === 1) return source;
  const numbers = found.map(({ source_number }) => source_number).join(', ');
  throw new Failure(`More than one source of account ${account_id} has this name; use the number: ${numbers}.`);
}

function matcherOf(reference: string): (source: Source) => boolean {
  if (isSourceId(reference)) return ({ source_id }) => source_id === reference;
  if (/^\d+$/.test(reference)) return ({ source_number }) => source_number === Number(reference);
  return ({ name }) => name === reference;
}
