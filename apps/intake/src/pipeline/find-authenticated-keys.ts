import { RATE_LIMIT } from '@orders/database/accounts/accounts.ts';
import { MAX_LIVE_SECRETS } from '@orders/database/accounts/signing-secrets.ts';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import type { KeyScope } from '@orders/domain/api-key.ts';
import type { AccountRateLimit } from '@orders/domain/rate-limit.ts';

/** A valid key with its account and what the account may do. */
export interface AuthenticatedKey {
  accountId: number;
  keyId: number;
  scopes: KeyScope[];
  /** Addresses and ranges from which the key works; empty for all. */
  addresses: string[];
  suspended: boolean;
  /** The base URL of intake of the installation to which the account was moved. */
  movedTo: string | null;
  /** Whether the account is being moved to another installation. */
  isMoving: boolean;
  /** Whether it is a test account. */
  isTest: boolean;
  /** Whether the account accepts signed deliveries only. */
  signedOnly: boolean;
  rateLimit: AccountRateLimit;
  /** The account's live signing secrets, encrypted, at most the newest two; empty when signing is not enabled. */
  sealedSecrets: Buffer[];
}

const FIND = {
  name: 'find-authenticated-keys',
  text: `
select wanted.index::int as "index", k.account_id as "accountId", k.key_id as "keyId", k.scopes, k.addresses,
       a.suspended_at is not null as suspended, a.moved_to as "movedTo",
       a.moving_since is not null and a.moved_to is null as "isMoving", a.test_of is not null as "isTest", a.signed_only as "signedOnly",
       ${RATE_LIMIT} as "rateLimit",
       array(select s.sealed from signing_secrets s
             where s.account_id = k.account_id and (s.expires_at is null or s.expires_at > now())
             order by s.secret_id desc limit ${MAX_LIVE_SECRETS}) as "sealedSecrets"
from unnest($1::bytea[]) with ordinality as wanted(key_hash, index)
cross join lateral (
  select account_id, key_id, scopes, addresses from api_keys
  where key_hash = wanted.key_hash and revoked_at is null and (expires_at is null or expires_at > now())
  offset 0
) as k
join accounts a on a.account_id = k.account_id`,
};

/**
 * Finds keys by their hashes.
 *
 * @returns one element per hash, in the same order; null for a key that is unknown, expired or revoked.
 */
export async function findAuthenticatedKeys(
  database: Database,
  keyHashes: readonly Buffer[],
): Promise<(AuthenticatedKey | null)[]> {
  const rows = await run<AuthenticatedKey & { index: number }>(database, FIND, [keyHashes]);
  const found: (AuthenticatedKey | null)[] = keyHashes.map(() => null);
  for (const { index, ...authenticated } of rows) found[index - 1] = authenticated;
  return found;
}

const TOUCH = {
  name: 'touch-key',
  text: `
update api_keys set last_used_at = now()
where account_id = $1::int and key_id = $2::bigint and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
};

/** Records the use of a key, to the minute. */
export async function touchKey(database: Database, accountId: number, keyId: number): Promise<void> {
  await run(database, TOUCH, [accountId, keyId]);
}
