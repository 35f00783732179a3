import { type Connection, run } from '../run.ts';
import { type Account, findAccount, lockAccount } from './accounts.ts';
import type { SecretsKeys } from './seal.ts';
import { enableSigning } from './signing-secrets.ts';

/** SQL: the ids of test accounts, which no operator needs to look after. */
export const TEST_ACCOUNTS = 'select account_id from accounts where test_of is not null';

/**
 * The test account of an account, made with its name, state, limits and demands if there is none yet; a test account has none but itself.
 *
 * @param secretsKeys seal its signing secret, if the account has signing enabled; null to make none.
 * @returns null if there is no such account.
 */
export async function openTestAccount(
  transaction: Connection,
  accountId: number,
  secretsKeys: SecretsKeys | null,
): Promise<{ account: Account; isNew: boolean } | null> {
  const account = await lockAccount(transaction, accountId);
  if (!account) return null;
  if (account.test_of !== null) return { account, isNew: false };
  const find = 'select account_id as id from accounts where test_of = $1';
  const [known] = await run<{ id: number }>(transaction, find, [accountId]);
  const [made] = known
    ? []
    : await run<{ id: number }>(
        transaction,
        `insert into accounts (name, suspended_at, rate_requests, rate_seconds, hold_changed_deliveries, second_factor_required, test_of)
         select name || ' (test)', suspended_at, rate_requests, rate_seconds, hold_changed_deliveries, second_factor_required, account_id
         from accounts where account_id = $1
         returning account_id as id`,
        [accountId],
      );
  const isNew = made !== undefined;
  const { id } = (known ?? made) as { id: number };
  if (isNew && account.signing_enabled && secretsKeys) await enableSigning(transaction, secretsKeys, id);
  return { account: (await findAccount(transaction, id)) as Account, isNew };
}

/** The account whose members this one has: of a test account, the one that it takes the tests of; otherwise itself. */
export async function findLiveAccountId(connection: Connection, accountId: number): Promise<number> {
  const find = 'select coalesce(test_of, account_id) as id from accounts where account_id = $1';
  const [account] = await run<{ id: number }>(connection, find, [accountId]);
  return account?.id ?? accountId;
}
