import { type Account, findAccount, findAccountsByName } from '@orders/database/accounts/accounts.ts';
import { MAX_INT4 } from './arguments.ts';
import { Failure } from './errors.ts';
import type { Knex } from './with-database.ts';

/**
 * Finds an account by id or exact name. Digits are always an id: a shop called "12" must not be suspended instead of account 12.
 *
 * @throws {Failure} if there is none, or more than one.
 */
export async function requireAccount(knex: Knex, reference: string): Promise<Account> {
  if (/^\d+$/.test(reference)) {
    const account = Number(reference) <= MAX_INT4 ? await findAccount(knex, Number(reference)) : null;
    if (account) return account;
    throw new Failure(`No account has the id ${reference}; orders accounts list shows all.`);
  }
  const accounts = await findAccountsByName(knex, reference);
  const [account] = accounts;
  if (!account) throw new Failure(`No account has the name "${reference}"; orders accounts list shows all.`);
  if (accounts.length === 1) return account;
  const ids = accounts.map(({ account_id }) => account_id).join(', ');
  throw new Failure(`More than one account has the name "${reference}"; use the id: ${ids}.`);
}
