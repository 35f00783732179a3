import { countUnreadableSecrets, type Database, type SecretsKeys } from '@orders/database';
import { cachedRead, Gauge, type Logger, type Registry } from '@orders/runtime';

const TIMES = { everyMs: 30_000, timeoutMs: 2000 };

/**
 * Shows how many signing secrets none of the keys opens, and logs it when it changes: webhooks that are signed with them are refused.
 *
 * @returns reads the number, at most every 30 s; null when it could not be read.
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
      logger.error('signing secrets do not open with SECRETS_KEY or SECRETS_KEY_PREVIOUS', { unreadable });
    logged = unreadable;
    return unreadable;
  }, TIMES);

  new Gauge({
    name: 'intake_unreadable_signing_secrets',
    help: 'Signing secrets in use that neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS opens',
    registers: [registry],
    async collect() {
      const unreadable = await read();
      if (unreadable === null) this.remove();
      else this.set(unreadable);
    },
  });
  return read;
}
