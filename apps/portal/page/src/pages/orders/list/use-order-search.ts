import type { FoundInState as Found } from '@orders/portal/review/search-orders.ts';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call, type Json } from '../../../api/client.ts';
import { type Search, toQuery } from './filters.ts';

/** What a search finds in one review state. */
export type FoundInState = Json<Found>;

/** Decisions of others move orders from state to state. */
const REFRESH_MS = 30_000;

/**
 * Searches the orders of all review states, as both the list and the palette do.
 *
 * @param search null for none.
 * @param limit max orders of each state; 0 for the counts alone.
 */
export function useOrderSearch(
  accountId: number | undefined,
  search: Search | null,
  limit: number,
): UseQueryResult<FoundInState[]> {
  return useQuery({
    queryKey: ['order search', accountId, search, limit],
    queryFn: async ({ signal }) => {
      const query = { ...(search && toQuery(search)), limit };
      const path = `/accounts/${accountId}/orders/search`;
      const { states } = await call<{ states: FoundInState[] }>('GET', path, { query, signal });
      return states;
    },
    enabled: accountId !== undefined && search !== null,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}
