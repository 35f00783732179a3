import type { Activity } from '@orders/portal/overview/read-activity.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Range } from '../../../src/overview/overview-routes.ts';
import { call, type Json } from './client.ts';

export type Overview = Json<Activity>;
export type OverviewPoint = Overview['points'][number];
export type { Range };
export const RANGES = ['hour', 'day', 'week', 'month'] as const satisfies readonly Range[];

const POLL_INTERVAL_MS = 30_000;

/** An account's activity; at most a minute old while a worker runs. */
export function useOverview(accountId: number, range: Range) {
  return useQuery({
    queryKey: ['overview', accountId, range],
    queryFn: ({ signal }) => call<Overview>('GET', `/accounts/${accountId}/overview`, { query: { range }, signal }),
    refetchInterval: POLL_INTERVAL_MS,
    placeholderData: keepPreviousData,
  });
}

export interface Money {
  currency: string;
  total: string;
}

export const SEVERITIES = ['blocks', 'check', 'corrected', 'none'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What waits for a decision, and what was decided. */
export interface ReviewOverview {
  waiting: {
    count: number;
    /** Whether more wait than were counted. */
    capped: boolean;
    by_severity: Record<Severity, number>;
    oldest_at: string | null;
    money: Money[];
  };
  confirmed: {
    last_hour: number;
    today: number;
    /** The last 24 hours, oldest first. */
    per_hour: { at: string; count: number }[];
    money_today: Money[];
    /** Whether there were more decisions than were counted. */
    capped: boolean;
  };
  rejected: { today: number };
  /** Requests to cancel orders that were dispatched; nobody has dealt with them. */
  cancellation_requests: { count: number; capped: boolean };
}

/** Today begins at midnight where the reader is. */
export function useReviewOverview(accountId: number) {
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return useQuery({
    queryKey: ['overview', accountId, 'review', time_zone],
    queryFn: ({ signal }) =>
      call<ReviewOverview>('GET', `/accounts/${accountId}/overview/review`, { query: { time_zone }, signal }),
    refetchInterval: POLL_INTERVAL_MS,
  });
}
