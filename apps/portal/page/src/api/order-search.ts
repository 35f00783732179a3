import type { FoundInState as Found } from '@orders/portal/review/search-orders.ts';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call, type Json, type Query } from './client.ts';

/** What a search finds in one review state. */
export type FoundInState = Json<Found>;

/** Decisions of others move orders from state to state. */
const REFRESH_MS = 30_000;

/**
 * Searches the orders of all review states, as both the list and the palette do.
 *
 * @param key of the query, which is made anew for each request, as ages are relative to now; null for no search.
 * @param limit max orders of each state; 0 for the counts alone.
 */
export function useOrderSearch(options: {
  accountId: number | undefined;
  key: unknown;
  query: () => Query;
  limit: number;
}): UseQueryResult<FoundInState[]> {
  const { accountId, key, query, limit } = options;
  return useQuery({
    queryKey: ['order search', accountId, key, limit],
    queryFn: async ({ signal }) => {
      const path = `/accounts/${accountId}/orders/search`;
      const { states } = await call<{ states: FoundInState[] }>('GET', path, { query: { ...query(), limit }, signal });
      return states;
    },
    enabled: accountId !== undefined && key !== null,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}
