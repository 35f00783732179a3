import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import { countUnreadableSecrets } from './check-secrets.ts';
import { cachedRead } from '@orders/runtime/concurrency/cached-read.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { Registry } from '@orders/runtime/observability/metrics.ts';
import { exposeGauge } from './expose-gauge.ts';

const TIMES = { everyMs: 30_000, timeoutMs: 2000 };

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
  const read = cachedRead(async () => {
    const unreadable = await countUnreadableSecrets(database, keys);
    if (unreadable !== logged && unreadable > 0)
      logger.error('signing secrets cannot be unsealed with SECRETS_KEY or SECRETS_KEY_PREVIOUS', { unreadable });
    logged = unreadable;
    return unreadable;
  }, TIMES);

  exposeGauge(
    registry,
    'intake_unreadable_signing_secrets',
    'Signing secrets in use that neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS unseals',
    read,
  );
  return read;
}
