import { quantile, type SlotCount } from '@orders/database/activity/buckets.ts';
import { type Connection, run } from '@orders/database/run.ts';

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
  connection: Connection,
  accountId: number,
  { rangeMs, stepMs }: { rangeMs: number; stepMs: number },
): Promise<Activity> {
  type Clock = { as_of: Date | null; now: Date };
  const [clock] = (await run<Clock>(connection, 'select as_of, now() as now from activity_clock')) as [Clock];
  const to = Math.ceil((clock.now.getTime() + 1) / stepMs) * stepMs;
  const from = to - rangeMs;
  const within = { from: new Date(from), to: new Date(to) };
  const values = [accountId, within.from, within.to, stepMs / 1000];
  const [counts, slots, warnings] = await Promise.all([
    run<Counts & { at: Date }>(connection, COUNTS, values),
    run<SlotCount & { at: Date }>(connection, LATENCIES, values),
    run<{ kind: string; count: number }>(connection, WARNINGS, values.slice(0, 3)),
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
    ...within,
    step_ms: stepMs,
    totals: { ...totals, ...quantiles(sumSlots(slots)) },
    points,
    warnings: warnings.map(({ kind, count }) => {
      const space = kind.indexOf(' ');
      return { code: kind.slice(0, space), pointer: kind.slice(space + 1), count };
    }),
  };
}

const AT = "date_bin($4 * interval '1 s', bucket_start, 'epoch') as at";
const WITHIN = 'account_id = $1 and bucket_start >= $2 and bucket_start < $3';

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
