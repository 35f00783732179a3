import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import { readSchemaState, schemaReadiness } from '@orders/database/schema-state.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import { readQueueState } from '@orders/queue/queue-state.ts';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import type { Readiness } from '@orders/runtime/lifecycle/admin-server.ts';

const MAX_CLOCK_SKEW_MS = 60_000;
const TIMEOUT_MS = 2000;

interface Sources {
  database: Database;
  producer: Producer;
  isDraining: () => boolean;
  /** Fingerprint of the key that seals signing secrets. */
  secretsKey: string;
  countUnreadableSecrets: () => Promise<number | null>;
}

/**
 * Ready if Postgres is reachable with at least this version's schema, the clock is within 60 s of Postgres' (receipt ids contain the
 * time) and the process is not draining. The queue and the signing secrets are reported but do not count: orders are accepted without
 * them.
 */
export async function checkReadiness(sources: Sources): Promise<Readiness> {
  const { database, producer, isDraining, secretsKey } = sources;
  const [schema, skewMs, queue, unreadable] = await Promise.all([
    readSchemaState(database),
    withTimeout(readClockSkew(database), TIMEOUT_MS),
    readQueueState(producer),
    sources.countUnreadableSecrets(),
  ]);
  const draining = isDraining();
  if (skewMs === null) return { ready: false, postgres: 'unreachable', queue, draining };
  const clock = skewMs <= MAX_CLOCK_SKEW_MS ? 'ok' : 'off';
  const ready = clock === 'ok' && schema === 'ok' && !draining;
  const secrets = { secrets_key: secretsKey, unreadable_signing_secrets: unreadable };
  return { ready, ...schemaReadiness(schema), clock, queue, ...secrets, draining };
}

const CLOCK = { name: 'clock', text: 'select now() as now' };

async function readClockSkew(database: Database): Promise<number> {
  const [row] = await run<{ now: Date }>(database, CLOCK, []);
  return Math.abs(Date.now() - (row?.now.getTime() ?? 0));
}
