import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { call } from '../../api/client.ts';
import type { ListedOrder } from '../../api/review.ts';
import type { Filters } from './filters.ts';

const POLL_INTERVAL_MS = 5000;
/** Resends mostly arrive soon after the order. */
const NEWEST = 100;

type Marks = ReadonlyMap<number, ListedOrder['resent']>;

/** Polls the `resent` marks of the list's newest orders while the page is visible. */
export function useResentMarks(
  accountId: number,
  filters: Filters,
  orders: readonly ListedOrder[],
  mark: (marks: Marks) => void,
): void {
  const ids = orders.slice(0, NEWEST).map(({ order_id }) => order_id);
  const poll = useQuery({
    queryKey: ['resent', accountId, filters],
    queryFn: async ({ signal }) => {
      const query = { order_ids: ids.join() };
      const path = `/accounts/${accountId}/orders/resent`;
      return (await call<{ orders: Pick<ListedOrder, 'order_id' | 'resent'>[] }>('GET', path, { query, signal }))
        .orders;
    },
    enabled: ids.length > 0,
    refetchInterval: POLL_INTERVAL_MS,
    // The list was just loaded with its marks.
    initialData: [],
    staleTime: POLL_INTERVAL_MS,
    gcTime: 0,
  });
  const receive = useEffectEvent(mark);
  useEffect(() => {
    if (poll.data.length > 0) receive(new Map(poll.data.map(({ order_id, resent }) => [order_id, resent])));
  }, [poll.data]);
}
