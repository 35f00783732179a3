import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { type ListedOrder, readUpdates } from '../../api/review.ts';
import { type Filters, toQuery } from './filters.ts';

const POLL_INTERVAL_MS = 5000;

type Marks = ReadonlyMap<number, ListedOrder['resent']>;

/** Polls the `resent` marks of orders that were sent again while the page is visible. */
export function useResentMarks(
  accountId: number,
  filters: Filters,
  orders: readonly ListedOrder[],
  mark: (marks: Marks) => void,
): void {
  const poll = useQuery({
    queryKey: ['resent', accountId, filters],
    queryFn: async ({ signal }) => {
      const query = { ...toQuery(filters), after: Number.MAX_SAFE_INTEGER };
      return (await readUpdates(accountId, query, signal)).edited;
    },
    enabled: orders.length > 0,
    refetchInterval: POLL_INTERVAL_MS,
    // The list was just loaded with its marks.
    initialData: [] as ListedOrder[],
    staleTime: POLL_INTERVAL_MS,
    gcTime: 0,
  });
  const receive = useEffectEvent(mark);
  useEffect(() => {
    if (poll.data.length > 0) receive(new Map(poll.data.map(({ order_id, resent }) => [order_id, resent])));
  }, [poll.data]);
}
