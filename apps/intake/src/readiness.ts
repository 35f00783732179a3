import { type Database, run } from '@orders/database';
import type { Bell } from '@orders/queue';
import { patiently, type Readiness } from '@orders/runtime';

const MAX_CLOCK_SKEW_MS = 60_000;
const PATIENCE_MS = 2000;

/**
 * Ready while Postgres answers and has the schema, the clock is within 60 s of Postgres' (receipt ids carry the time) and no drain is under way. The
 * queue's state is told but does not count: without it orders are still accepted.
 */
export function checkReadiness(database: Database, bell: Bell, draining: () => boolean): () => Promise<Readiness> {
  return async () => {
    const [state, queue] = await Promise.all([
      patiently(askPostgres(database), PATIENCE_MS),
      patiently(bell.depth(), PATIENCE_MS).then((depth) => (depth === null ? 'unreachable' : 'ok')),
    ]);
    if (state === null) return { ready: false, postgres: 'unreachable', queue, draining: draining() };
    const clock = state.skewMs <= MAX_CLOCK_SKEW_MS ? 'ok' : 'off';
    const schema = state.hasSchema ? 'ok' : 'missing: run orders migrate';
    const ready = clock === 'ok' && schema === 'ok' && !draining();
    return { ready, postgres: 'ok', schema, clock, queue, draining: draining() };
  };
}

const ASK = {
  name: 'readiness',
  text: `select now() as now, to_regclass('receipts') is not null as "hasSchema"`,
};

async function askPostgres(database: Database): Promise<{ skewMs: number; hasSchema: boolean }> {
  const [row] = await run<{ now: Date; hasSchema: boolean }>(database, ASK, []);
  return { skewMs: Math.abs(Date.now() - (row?.now.getTime() ?? 0)), hasSchema: row?.hasSchema ?? false };
}
