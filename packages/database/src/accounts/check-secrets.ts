import { setImmediate } from 'node:timers/promises';
import { type Database, run } from '../connect.ts';
import { type SecretsKeys, tryToUnseal } from './seal.ts';

/** More than one look would take too much memory; the newest are the ones in use. */
const MAX_SECRETS = 10_000;
/** Opened without a pause: about a millisecond. */
const CHUNK = 100;

const LIST_LIVE = {
  name: 'list-live-secrets',
  text: `
select account_id as "accountId", sealed from signing_secrets
where expires_at is null or expires_at > now() order by secret_id desc limit ${MAX_SECRETS}`,
};

/** The number of signing secrets that verify now (of the newest 10,000) and that none of the keys opens. */
export async function countUnreadableSecrets(database: Database, keys: SecretsKeys): Promise<number> {
  const secrets = await run<{ accountId: number; sealed: Buffer }>(database, LIST_LIVE, []);
  let unreadable = 0;
  for (const [index, { accountId, sealed }] of secrets.entries()) {
    if (index % CHUNK === CHUNK - 1) await setImmediate();
    if (tryToUnseal(keys, accountId, sealed) === null) unreadable += 1;
  }
  return unreadable;
}
