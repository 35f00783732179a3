import { type Account, findAccount, findAccountsByName } from '@orders/database/accounts/accounts.ts';
import { type Endpoint, findEndpoint } from '@orders/database/endpoints/endpoints.ts';
import { type Connection, run } from '@orders/database/run.ts';
import { listSources, type Source } from '@orders/database/sources/sources.ts';
import { isSourceId } from '@orders/domain/api-key.ts';
import { MAX_INT4 } from './arguments.ts';
import { Failure } from './errors.ts';

/**
 * Finds an account by id or exact name. Digits are always an id: a shop called "12" must not be suspended instead of account 12.
 *
 * @throws {Failure} if there is none, or more than one.
 */
export async function requireAccount(database: Connection, reference: string): Promise<Account> {
  if (/^\d+$/.test(reference)) {
    const account = Number(reference) <= MAX_INT4 ? await findAccount(database, Number(reference)) : null;
    if (account) return account;
    throw new Failure(`No account has the id ${reference}; orders accounts list shows all.`);
  }
  const accounts = await findAccountsByName(database, reference);
  const [account] = accounts;
  if (!account) throw new Failure(`No account has the name "${reference}"; orders accounts list shows all.`);
  if (accounts.length === 1) return account;
  const ids = accounts.map(({ account_id }) => account_id).join(', ');
  throw new Failure(`More than one account has the name "${reference}"; use the id: ${ids}.`);
}

/**
 * Finds an endpoint by its id.
 *
 * @throws {Failure} if there is none.
 */
export async function requireEndpoint(database: Connection, endpointId: string): Promise<Endpoint> {
  const find = 'select account_id from endpoints where endpoint_id = $1';
  const [found] = await run<{ account_id: number }>(database, find, [endpointId]);
  const endpoint = found ? await findEndpoint(database, found.account_id, endpointId) : null;
  if (endpoint) return endpoint;
  throw new Failure('No endpoint has this id; orders endpoints list <account> shows those of an account.');
}

/**
 * Finds a source of an account by its number, its id or its exact name. Digits are always a number.
 *
 * @throws {Failure} if there is none, or more than one.
 */
export async function requireSource(database: Connection, account: string, reference: string): Promise<Source> {
  const { account_id } = await requireAccount(database, account);
  const sources = await listSources(database, account_id);
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
