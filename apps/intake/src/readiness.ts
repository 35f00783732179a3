import { type Database, run } from '@orders/database';
import type { Bell } from '@orders/queue';
import type { Readiness } from '@orders/runtime';

const MAX_CLOCK_SKEW_MS = 60_000;
const PATIENCE_MS = 2000;

/**
 * Ready while Postgres answers, the clock is within 60 s of Postgres' (receipt ids carry the time) and no drain is under way. The
 * queue's state is told but does not count: without it orders are still accepted.
 */
export function checkReadiness(database: Database, bell: Bell, draining: () => boolean): () => Promise<Readiness> {
  return async () => {
    const [skew, queue] = await Promise.all([
      patiently(clockSkew(database)),
      patiently(bell.depth()).then((depth) => (depth === null ? 'unreachable' : 'ok')),
    ]);
    const clock = skew === null ? 'unknown' : skew <= MAX_CLOCK_SKEW_MS ? 'ok' : 'off';
    const postgres = skew === null ? 'unreachable' : 'ok';
    return { ready: postgres === 'ok' && clock === 'ok' && !draining(), postgres, clock, queue, draining: draining() };
  };
}

async function clockSkew(database: Database): Promise<number> {
  const [row] = await run<{ now: Date }>(database, { name: 'clock', text: 'select now() as now' }, []);
  return Math.abs(Date.now() - (row?.now.getTime() ?? 0));
}

async function patiently<T>(answer: Promise<T>): Promise<T | null> {
  const timer = Promise.withResolvers<null>();
  const timeout = setTimeout(() => timer.resolve(null), PATIENCE_MS);
  return Promise.race([answer.catch(() => null), timer.promise]).finally(() => clearTimeout(timeout));
}
