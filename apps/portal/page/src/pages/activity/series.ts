import type { OverviewPoint } from '../../api/overview.ts';
import { formatCount, formatDuration } from '../../components/numbers.ts';
import { locale } from '../../locales/index.ts';

/** One series of a chart; `name` is its locale key below `series`. */
export interface Series {
  name: 'written' | 'duplicate' | 'moving' | 'failed' | 'dead' | 'p50' | 'p99';
  colour: string;
  /** Distinguishes the line without relying on colour. */
  isDashed?: boolean;
  of(point: OverviewPoint): number | null;
  format(value: number): string;
}

/** Outcomes of orders, from the bottom of a bar to its top. */
export const OUTCOMES: Series[] = [
  { name: 'written', colour: 'var(--good)', of: (point) => point.written, format: formatCount },
  { name: 'duplicate', colour: 'var(--series-2)', of: (point) => point.duplicate, format: formatCount },
  { name: 'moving', colour: 'var(--series-3)', of: pendingOf, format: formatCount },
  { name: 'failed', colour: 'var(--warn)', of: (point) => point.failed, format: formatCount },
  { name: 'dead', colour: 'var(--bad)', of: (point) => point.dead, format: formatCount },
];

export const LATENCIES: Series[] = [
  { name: 'p50', colour: 'var(--accent)', of: (point) => point.p50_ms, format: formatDuration },
  { name: 'p99', colour: 'var(--series-4)', isDashed: true, of: (point) => point.p99_ms, format: formatDuration },
];

/** Receipts without an attempt so far. */
export function pendingOf(point: Omit<OverviewPoint, 'at'>): number {
  return point.accepted - point.written - point.duplicate - point.failed - point.dead;
}

const DAY = 86_400_000;

/** Formats the start of a step; includes the day if the range is longer than one. */
export function formatStep(at: string, stepMs: number, count: number): string {
  const isLong = stepMs * count > DAY;
  return new Intl.DateTimeFormat(locale(), {
    ...(isLong && { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
  }).format(new Date(at));
}
