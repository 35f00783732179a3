import { type Database, readSchemaState, run, schemaReadiness } from '@orders/database';
import type { Bell } from '@orders/queue';
import { patiently, type Readiness } from '@orders/runtime';

const MAX_CLOCK_SKEW_MS = 60_000;
const PATIENCE_MS = 2000;

/**
 * Ready while Postgres answers and has at least this version's schema, the clock is within 60 s of Postgres' (receipt ids carry the time) and no drain is under way. The
 * queue's state is told but does not count: without it orders are still accepted.
 */
export function checkReadiness(database: Database, bell: Bell, draining: () => boolean): () => Promise<Readiness> {
  return async () => {
    const [schema, skewMs, queue] = await Promise.all([
      readSchemaState(database),
      patiently(readClockSkew(database), PATIENCE_MS),
      patiently(bell.lanes(), PATIENCE_MS).then((lanes) => (lanes === null ? 'unreachable' : 'ok')),
    ]);
    if (skewMs === null) return { ready: false, postgres: 'unreachable', queue, draining: draining() };
    const clock = skewMs <= MAX_CLOCK_SKEW_MS ? 'ok' : 'off';
    const ready = clock === 'ok' && schema === 'ok' && !draining();
    return { ready, ...schemaReadiness(schema), clock, queue, draining: draining() };
  };
}

const CLOCK = { name: 'clock', text: 'select now() as now' };

async function readClockSkew(database: Database): Promise<number> {
  const [row] = await run<{ now: Date }>(database, CLOCK, []);
  return Math.abs(Date.now() - (row?.now.getTime() ?? 0));
}
