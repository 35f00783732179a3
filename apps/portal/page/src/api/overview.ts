import type { Activity } from '@orders/database';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Range } from '../../../src/overview/overview-routes.ts';
import { call } from './client.ts';
import type { Json } from './types.ts';

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
