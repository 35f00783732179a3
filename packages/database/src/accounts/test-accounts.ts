import { setEvents } from '../events/event-logs.ts';
import { type Connection, run } from '../run.ts';
import { type Account, findAccount, lockAccount } from './accounts.ts';
import type { SecretsKeys } from './seal.ts';
import { enableSigning } from './signing-secrets.ts';

/** SQL: the ids of accounts that no operator needs to look after: test accounts, and those that were moved away or are being moved. */
export const UNATTENDED_ACCOUNTS =
  'select account_id from accounts where test_of is not null or moving_since is not null';

/** SQL: whether the account with this id is a test account. */
export const isTestAccount = (accountId: string): string =>
  `exists (select from accounts where account_id = ${accountId} and test_of is not null)`;

/** What a test account lacked until it was opened, as the audit trail names it. */
type Equipped = 'signing_enabled' | 'events_enabled';

/**
 * The test account of an account, made with its name, state, limits and demands if there is none yet; a test account has none but itself. It
 * gets what developers cannot enable: a signing secret, also if it lost it, and events, unless somebody disabled them.
 *
 * @param secretsKeys seal its signing secret.
 * @returns null if there is no such account.
 */
export async function openTestAccount(
  transaction: Connection,
  accountId: number,
  secretsKeys: SecretsKeys,
): Promise<{ account: Account; isNew: boolean; equipped: Equipped[] } | null> {
  const account = await lockAccount(transaction, accountId);
  if (!account) return null;
  const known = account.test_of === null ? await findTestAccountId(transaction, accountId) : accountId;
  const [made] = known
    ? []
    : await run<{ id: number }>(
        transaction,
        `insert into accounts (name, suspended_at, rate_requests, rate_seconds, rate_unlimited, hold_changed_deliveries, signed_only,
                               second_factor_required, review_target_minutes, test_of)
         select name || ' (test)', suspended_at, rate_requests, rate_seconds, rate_unlimited, hold_changed_deliveries, signed_only,
                second_factor_required, review_target_minutes, account_id
         from accounts where account_id = $1
         returning account_id as id`,
        [accountId],
      );
  const id = (known ?? made?.id) as number;
  const found = (await findAccount(transaction, id)) as Account;
  const equipped = await equip(transaction, found, secretsKeys);
  return { account: { ...found, signing_enabled: true }, isNew: made !== undefined, equipped };
}

async function equip(
  transaction: Connection,
  { account_id: id, signing_enabled: isSigning }: Account,
  secretsKeys: SecretsKeys,
): Promise<Equipped[]> {
  const equipped: Equipped[] = [];
  if (!isSigning) {
    await enableSigning(transaction, secretsKeys, id);
    equipped.push('signing_enabled');
  }
  const [log] = await run(transaction, 'select from event_logs where account_id = $1', [id]);
  if (!log && (await setEvents(transaction, id, true))) equipped.push('events_enabled');
  return equipped;
}

/** The test account of an account; null if it has none, as test accounts. */
export async function findTestAccountId(connection: Connection, accountId: number): Promise<number | null> {
  const find = 'select account_id as id from accounts where test_of = $1';
  const [account] = await run<{ id: number }>(connection, find, [accountId]);
  return account?.id ?? null;
}

/** The account whose members this one has: of a test account, the one that it takes the tests of; otherwise itself. */
export async function findLiveAccountId(connection: Connection, accountId: number): Promise<number> {
  const find = 'select coalesce(test_of, account_id) as id from accounts where account_id = $1';
  const [account] = await run<{ id: number }>(connection, find, [accountId]);
  return account?.id ?? accountId;
}
