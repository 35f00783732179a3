import { setImmediate } from 'node:timers/promises';
import { type SecretsKeys, tryToUnseal } from '@orders/database/accounts/seal.ts';
import { UNATTENDED_ACCOUNTS } from '@orders/database/accounts/test-accounts.ts';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import { cachedRead } from '@orders/runtime/concurrency/timers.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { metricsOf, type Registry } from '@orders/runtime/observability/metrics.ts';

/** Limits memory; the newest secrets are the ones in use. */
const MAX_SECRETS = 10_000;
/** Secrets decrypted before yielding to the event loop: about a millisecond. */
const CHUNK = 100;

const LIST_LIVE = {
  name: 'list-live-secrets',
  text: `
(select account_id as "accountId", sealed from signing_secrets
 where expires_at is null or expires_at > now() order by secret_id desc limit ${MAX_SECRETS})
union all
(select account_id, secret
 from sources cross join unnest(array[sealed, case when previous_until > now() then previous_sealed end]) as secret
 where removed_at is null and secret is not null order by source_number desc limit ${MAX_SECRETS})`,
};

/** The number of live secrets of accounts and sources (of the newest 10,000 of each) that none of the keys decrypts. */
async function countUnreadableSecrets(database: Database, keys: SecretsKeys): Promise<number> {
  const secrets = await run<{ accountId: number; sealed: Buffer }>(database, LIST_LIVE, []);
  let unreadable = 0;
  for (const [index, { accountId, sealed }] of secrets.entries()) {
    if (index % CHUNK === CHUNK - 1) await setImmediate();
    if (tryToUnseal(keys, accountId, sealed) === null) unreadable += 1;
  }
  return unreadable;
}

/**
 * Gauge of the signing secrets that no configured key unseals; webhooks signed with them are rejected. Logs the number when it changes.
 *
 * @returns reads the number, at most every 30 s; null if it could not be read.
 */
export function exposeUnreadableSecrets(
  registry: Registry,
  database: Database,
  keys: SecretsKeys,
  logger: Logger,
): () => Promise<number | null> {
  let logged = 0;
  const read = cachedRead(
    async () => {
      const unreadable = await countUnreadableSecrets(database, keys);
      if (unreadable !== logged && unreadable > 0)
        logger.error('signing secrets cannot be unsealed with SECRETS_KEY or SECRETS_KEY_PREVIOUS', { unreadable });
      logged = unreadable;
      return unreadable;
    },
    { everyMs: 30_000, timeoutMs: 2000 },
  );

  metricsOf(registry).gauge(
    'intake_unreadable_signing_secrets',
    'Signing secrets in use that neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS unseals',
    read,
  );
  return read;
}

const COUNT_EXPIRING = {
  name: 'count-expiring-keys',
  text: `
select count(*)::int as count from api_keys
where lifetime_seconds is not null and revoked_at is null
  and account_id not in (${UNATTENDED_ACCOUNTS})
  and expires_at > now() and expires_at < now() + interval '3 days' and last_used_at > now() - interval '7 days'`,
};

/** Gauge of the API keys in use that expire within 3 days. */
export function exposeExpiringKeys(registry: Registry, database: Database): void {
  const count = async () => (await run<{ count: number }>(database, COUNT_EXPIRING, []))[0]?.count ?? 0;
  metricsOf(registry).gauge(
    'intake_expiring_api_keys',
    'API keys that were used in the last 7 days, expire within 3 days, and are not replaced',
    cachedRead(count, { everyMs: 60_000, timeoutMs: 2000 }),
  );
}
