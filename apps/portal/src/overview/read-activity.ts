import { quantile, type SlotCount } from '@orders/database/activity/buckets.ts';
import type { Knex } from 'knex';

/** Receipts accepted in a time range, by their current outcome. */
export interface Outcomes {
  accepted: number;
  written: number;
  duplicate: number;
  /** Waiting for a retry. */
  failed: number;
  dead: number;
  /** Time from received to written in milliseconds; null when none is written. */
  p50_ms: number | null;
  p99_ms: number | null;
}

export interface ActivityPoint extends Outcomes {
  /** Start of the step. */
  at: Date;
}

/** A kind of warning: a field of the payload as sent, `*` standing for every index of a list, and what was wrong there. */
export interface WarningCount {
  pointer: string;
  code: string;
  count: number;
}

export interface Activity {
  /** Time of the last rollup; null if there was none. */
  as_of: Date | null;
  from: Date;
  to: Date;
  step_ms: number;
  totals: Outcomes;
  points: ActivityPoint[];
  warnings: WarningCount[];
}

const TOP_WARNINGS = 12;

type Counts = Pick<Outcomes, 'accepted' | 'written' | 'duplicate' | 'failed' | 'dead'>;
const NONE: Counts = { accepted: 0, written: 0, duplicate: 0, failed: 0, dead: 0 };

/**
 * The activity of an account up to now, in steps, as computed by `rollUpActivity`.
 *
 * @param stepMs milliseconds, a multiple of five minutes; `rangeMs` must be a multiple of it.
 */
export async function readActivity(
  db: Knex,
  accountId: number,
  { rangeMs, stepMs }: { rangeMs: number; stepMs: number },
): Promise<Activity> {
  const clock = await db('activity_clock').first<{ as_of: Date | null; now: Date }>('as_of', db.raw('now() as now'));
  const to = Math.ceil((clock.now.getTime() + 1) / stepMs) * stepMs;
  const from = to - rangeMs;
  const within = { accountId, from: new Date(from), to: new Date(to), step: stepMs / 1000 };
  const [counts, slots, warnings] = await Promise.all([
    select<Counts & { at: Date }>(db, COUNTS, within),
    select<SlotCount & { at: Date }>(db, LATENCIES, within),
    select<{ kind: string; count: number }>(db, WARNINGS, within),
  ]);
  const countsAt = new Map(counts.map(({ at, ...rest }) => [at.getTime(), rest]));
  const slotsAt = Map.groupBy(slots, ({ at }) => at.getTime());
  const points = Array.from({ length: rangeMs / stepMs }, (_, index) => {
    const at = from + index * stepMs;
    return { at: new Date(at), ...(countsAt.get(at) ?? NONE), ...quantiles(slotsAt.get(at) ?? []) };
  });
  const totals = counts.reduce(add, NONE);
  return {
    as_of: clock.as_of,
    from: within.from,
    to: within.to,
    step_ms: stepMs,
    totals: { ...totals, ...quantiles(sumSlots(slots)) },
    points,
    warnings: warnings.map(({ kind, count }) => {
      const space = kind.indexOf(' ');
      return { code: kind.slice(0, space), pointer: kind.slice(space + 1), count };
    }),
  };
}

async function select<Row>(db: Knex, sql: string, within: Record<string, unknown>): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(sql, within as Record<string, Knex.Value>);
  return rows;
}

const AT = "date_bin(:step * interval '1 s', bucket_start, 'epoch') as at";
const WITHIN = 'account_id = :accountId and bucket_start >= :from and bucket_start < :to';

const COUNTS = `
select ${AT}, sum(accepted)::bigint as accepted, sum(written)::bigint as written, sum(duplicate)::bigint as duplicate,
       sum(failed)::bigint as failed, sum(dead)::bigint as dead
from activity where ${WITHIN} group by 1`;

const LATENCIES = `
select ${AT}, slot, sum(n)::bigint as count
from activity cross join lateral unnest(latency_slots, latency_counts) as h(slot, n)
where ${WITHIN} group by 1, 2`;

const WARNINGS = `
select key as kind, sum(value::bigint)::bigint as count
from activity cross join lateral jsonb_each_text(warnings)
where ${WITHIN} group by 1 order by 2 desc, 1 limit ${TOP_WARNINGS}`;

function quantiles(histogram: readonly SlotCount[]): Pick<Outcomes, 'p50_ms' | 'p99_ms'> {
  return { p50_ms: quantile(histogram, 0.5), p99_ms: quantile(histogram, 0.99) };
}

function sumSlots(slots: readonly SlotCount[]): SlotCount[] {
  const sums = new Map<number, number>();
  for (const { slot, count } of slots) sums.set(slot, (sums.get(slot) ?? 0) + count);
  return [...sums].map(([slot, count]) => ({ slot, count }));
}

function add(sum: Counts, counts: Counts): Counts {
  return {
    accepted: sum.accepted + counts.accepted,
    written: sum.written + counts.written,
    duplicate: sum.duplicate + counts.duplicate,
    failed: sum.failed + counts.failed,
    dead: sum.dead + counts.dead,
  };
}
