import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fingerprintOf } from '@orders/database/accounts/seal.ts';
import { closeDatabase, openDatabase, poolState } from '@orders/database/connect.ts';
import { createFailureLog } from '@orders/database/failure-log.ts';
import { checkSchema, untilSchema } from '@orders/database/schema-state.ts';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { createService, DRAIN_SHARE, type Service } from '@orders/runtime/lifecycle/create-service.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { exposePools } from '@orders/runtime/observability/metrics.ts';
import { createEndpointCaller } from './call-endpoint.ts';
import { claimEndpoints } from './claim-endpoints.ts';
import type { NotifierConfig } from './config.ts';
import { createDeliverRound } from './deliver-round.ts';
import { createHostRates } from './host-rates.ts';
import { createMetrics } from './metrics.ts';

/** Interval at which Postgres is asked for endpoints, in milliseconds. */
const CLAIM_INTERVAL_MS = 100;
/**
 * A round that ends starts the next claim, because its endpoint probably has more events. This wait lets several rounds that end together
 * share one claim.
 */
const MIN_CLAIM_INTERVAL_MS = 10;
/**
 * Longer than a round: 15 s for its attempts, which run at the same time, and PG_QUERY_TIMEOUT (10 s by default) for each of its two
 * statements.
 */
const LEASE_MS = 45_000;
/** Share of the capacity for new, slow and failing endpoints. The others never use it. */
const SLOW_SHARE = 0.5;
/** An account that has this share of either half gets no more, however many endpoints it creates and removes. */
const ACCOUNT_SHARE = 0.25;

/** Creates the notifier; nothing connects before `start`. */
export function createNotifier(config: NotifierConfig, { logger }: { logger: Logger }): Service {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.PG_POOL_SIZE,
    prepared: config.PG_PREPARED,
    queryTimeout: config.PG_QUERY_TIMEOUT,
    applicationName: 'orders notifier',
  });
  /** The running rounds, with their accounts. */
  const rounds = { fast: new Map<Promise<void>, number>(), slow: new Map<Promise<void>, number>() };
  const metrics = createMetrics(() => rounds.fast.size + rounds.slow.size);
  exposePools(metrics.registry, { hot: () => poolState(database) });
  const secretsKeys = secretsKeysOf(config);
  const caller = createEndpointCaller(config);
  const deliverRound = createDeliverRound({
    database,
    caller,
    rates: createHostRates(config.CALLBACK_RATE),
    msPerRequest: 1000 / config.CALLBACK_RATE,
    secretsKeys,
    metrics,
    logger,
  });
  const failures = createFailureLog(database, logger, 'delivering events', 'deliveries wait for the next round');
  const slowLimit = Math.floor(config.NOTIFIER_CONCURRENCY * SLOW_SHARE);
  const limits = { fast: config.NOTIFIER_CONCURRENCY - slowLimit, slow: slowLimit };
  const secretsKey = fingerprintOf(secretsKeys);
  let claiming: Promise<void>[] = [];
  const onRoundEnd = { fast: () => {}, slow: () => {} };

  /** Starts a round for each endpoint that has something to deliver, as far as there is capacity. */
  async function claim(kind: 'fast' | 'slow'): Promise<void> {
    const running = rounds[kind];
    const limit = limits[kind] - running.size;
    if (limit === 0) return;
    const leaseId = randomUUID();
    const perAccount = Math.ceil(limits[kind] * ACCOUNT_SHARE);
    const claimed = await claimEndpoints(database, {
      leaseId,
      leaseMs: LEASE_MS,
      isSlow: kind === 'slow',
      limit,
      perAccount,
      except: accountsWith([...running.values()], perAccount),
    });
    failures.succeeded();
    for (const endpoint of claimed) {
      const round = deliverRound(endpoint, leaseId)
        .catch(async (error: unknown) => {
          metrics.failedRounds.inc();
          logger.debug('round failed', { endpoint_id: endpoint.endpointId, error: describeError(error) });
          await failures.failed(error);
        })
        .finally(() => {
          running.delete(round);
          onRoundEnd[kind]();
        });
      running.set(round, endpoint.accountId);
    }
  }

  async function claimUntilStopped(kind: 'fast' | 'slow', signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const roundEnd = Promise.withResolvers<void>();
      onRoundEnd[kind] = roundEnd.resolve;
      await claim(kind).catch(failures.failed);
      await sleep(MIN_CLAIM_INTERVAL_MS, null, { signal }).catch(() => {});
      await Promise.race([roundEnd.promise, sleep(CLAIM_INTERVAL_MS, null, { signal }).catch(() => {})]);
    }
  }

  return createService({
    name: 'notifier',
    config,
    logger,
    registry: metrics.registry,
    readiness: async (isDraining) => ({ ...(await checkSchema(database, isDraining)), secrets_key: secretsKey }),
    async begin(stopping, warn) {
      if (!(await untilSchema(database, stopping, warn))) return;
      claiming = [claimUntilStopped('fast', stopping), claimUntilStopped('slow', stopping)];
      logger.info('notifier ready');
    },
    async end() {
      await Promise.all(claiming);
      // Rounds that have not ended by then are repeated by another notifier once their leases expire.
      await withTimeout(
        Promise.all([...rounds.fast.keys(), ...rounds.slow.keys()]),
        config.DRAIN_TIMEOUT * DRAIN_SHARE,
      );
      caller.close();
      await closeDatabase(database);
    },
  });
}

/** The accounts that occur at least `count` times. */
function accountsWith(accountIds: readonly number[], count: number): number[] {
  return [...new Set(accountIds)].filter((id) => accountIds.filter((other) => other === id).length >= count);
}
