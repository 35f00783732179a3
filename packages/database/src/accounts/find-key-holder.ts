import type { AccountRateLimit } from '@orders/domain';
import { type Database, run } from '../connect.ts';
import { RATE_LIMIT } from './accounts.ts';

/** Whose key it is, and what the account may do. */
export interface KeyHolder {
  accountId: number;
  keyId: number;
  suspended: boolean;
  rateLimit: AccountRateLimit;
  /** The account's signing secrets that verify now, still encrypted; none: signing is not enabled. */
  sealedSecrets: Buffer[];
}

const FIND = {
  name: 'find-key-holder',
  text: `
select k.account_id as "accountId", k.key_id as "keyId", a.suspended_at is not null as suspended,
       ${RATE_LIMIT} as "rateLimit",
       array(select s.sealed from signing_secrets s
             where s.account_id = k.account_id and (s.expires_at is null or s.expires_at > now())
             order by s.secret_id desc) as "sealedSecrets"
from api_keys k join accounts a on a.account_id = k.account_id
where k.key_hash = $1::bytea and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
};

/** Finds the holder of a key that is valid now: neither unknown, nor expired or replaced, nor revoked. */
export async function findKeyHolder(database: Database, keyHash: Buffer): Promise<KeyHolder | null> {
  const [row] = await run<KeyHolder>(database, FIND, [keyHash]);
  return row ?? null;
}

const TOUCH = {
  name: 'touch-key',
  text: `
update api_keys set last_used_at = now()
where account_id = $1::int and key_id = $2::int and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
};

/** Notes that a key was used, to the minute. */
export async function touchKey(database: Database, accountId: number, keyId: number): Promise<void> {
  await run(database, TOUCH, [accountId, keyId]);
}
