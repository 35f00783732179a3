import { MAX_LIVE_SECRETS } from '@orders/database/accounts/signing-secrets.ts';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';

const TOUCH = {
  name: 'touch-secret',
  text: `
update signing_secrets set last_used_at = now()
where account_id = $1::int and sealed = $2::bytea and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
};

/** Records that a signing secret verified a webhook, to the minute. */
export async function touchSecret(database: Database, accountId: number, sealed: Buffer): Promise<void> {
  await run(database, TOUCH, [accountId, sealed]);
}

/** An encrypted signing secret, live or rotated out. */
export interface SealedSecret {
  sealed: Buffer;
  isLive: boolean;
}

const FIND = {
  name: 'find-secrets-to-diagnose',
  text: `
select sealed, (expires_at is null or expires_at > now()) and row_number() over (order by secret_id desc) <= ${MAX_LIVE_SECRETS} as "isLive"
from signing_secrets where account_id = $1::int order by secret_id desc limit 5`,
};

/** The newest five secrets of an account, newest first, including rotated-out ones that a sender may still use. */
export async function findSecretsToDiagnose(database: Database, accountId: number): Promise<SealedSecret[]> {
  return run<SealedSecret>(database, FIND, [accountId]);
}
