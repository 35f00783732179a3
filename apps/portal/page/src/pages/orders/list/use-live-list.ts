import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { call } from '../../../api/client.ts';
import type { ListedOrder } from '../../../api/review.ts';
import type { Updates } from '../../../api/review-list.ts';
import { useIsHidden } from '../../../components/use-is-hidden.ts';
import { useReview } from '../decide/use-review.ts';
import { awaitsNewOrders, type Filters, toQuery } from './filters.ts';
import { useArrivals } from './use-arrivals.ts';
import { useNewOrderAlerts, useWantsAlerts } from './use-new-order-alerts.ts';
import { useOrderList } from './use-order-list.ts';

const POLL_INTERVAL_MS = 2000;
/** While the page is hidden and announces new orders. Browsers poll even less after some minutes. */
const HIDDEN_POLL_INTERVAL_MS = 15_000;
/** A request without an answer for this long has failed. */
const TIMEOUT_MS = 5000;
/** Polls that fail for longer are told to the reviewer. */
const STALE_MS = 6000;
/** Ids are assigned before the commit, so an order can still appear below one that is younger than this. In milliseconds. */
const SETTLE_MS = 10_000;

/** The newest id below which no further order can appear. */
function newestSettledId(orders: readonly ListedOrder[]): number {
  const settled = orders.find(({ written_at }) => Date.now() - Date.parse(written_at) > SETTLE_MS);
  return (settled ?? orders.at(-1))?.order_id ?? 0;
}

/**
 * Polls what happened to the list while the page is visible, and while it is hidden if new orders are to be announced.
 *
 * @param known the loaded list, newest first; undefined while it loads.
 * @param onUpdates called with each reply and the time when it was requested.
 */
function useUpdates(
  accountId: number,
  filters: Filters,
  known: readonly ListedOrder[] | undefined,
  openId: number | null,
  onUpdates: (updates: Updates, requestedAt: number) => void,
) {
  const queryClient = useQueryClient();
  const isHidden = useIsHidden();
  const wantsAlerts = useWantsAlerts(accountId);
  // Kept with the list, so that the way back catches up on what happened meanwhile.
  const seenKey = ['events seen', accountId, filters];
  const poll = useQuery({
    queryKey: ['updates', accountId, filters],
    async queryFn({ signal }) {
      const requestedAt = performance.now();
      const awaits = known !== undefined && awaitsNewOrders(filters);
      const query = {
        ...toQuery(filters),
        // With the largest id there are no new ones.
        after: awaits ? newestSettledId(known) : Number.MAX_SAFE_INTEGER,
        event_after: queryClient.getQueryData<number>(seenKey),
        open: openId,
        // Nobody looks at it: the user is not shown as a viewer, and the session is not renewed.
        background: document.hidden || undefined,
      };
      const updates = await call<Updates>('GET', `/accounts/${accountId}/orders/updates`, {
        query,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      return { updates, requestedAt, awaits };
    },
    refetchInterval: isHidden ? HIDDEN_POLL_INTERVAL_MS : POLL_INTERVAL_MS,
    refetchIntervalInBackground: wantsAlerts && awaitsNewOrders(filters),
    // The next poll follows soon, and without a network the failure must show.
    retry: false,
    networkMode: 'always',
    staleTime: 0,
    gcTime: 0,
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
  const receive = useEffectEvent(({ updates, requestedAt, awaits }: NonNullable<typeof poll.data>) => {
    queryClient.setQueryDefaults(['events seen'], { gcTime: 10 * 60_000 });
    queryClient.setQueryData(seenKey, updates.event_after);
    onUpdates(awaits ? updates : { ...updates, new: { orders: [], more: false } }, requestedAt);
  });
  useEffect(() => {
    if (poll.data && !poll.isPlaceholderData) receive(poll.data);
  }, [poll.data, poll.isPlaceholderData]);
  const startedAt = useRef(Date.now());
  const updatedAt = poll.dataUpdatedAt || startedAt.current;
  const isFailing = poll.errorUpdatedAt - updatedAt > STALE_MS;
  return {
    counts: poll.data?.updates.counts,
    target: poll.data?.updates.review_target_minutes,
    snoozed: poll.isPlaceholderData ? undefined : poll.data?.updates.snoozed,
    requests: poll.isPlaceholderData ? undefined : poll.data?.updates.cancellation_requests,
    viewers: poll.isPlaceholderData ? undefined : poll.data?.updates.viewers,
    /** When the list was last known to be up to date, if that is too long ago. */
    staleSince: isFailing ? updatedAt : null,
    retry: () => void poll.refetch(),
  };
}

/**
 * The displayed list: loaded orders plus new ones, minus those moved to another state, here or by somebody else. New orders are inserted
 * only while the list is scrolled to its top, so that rows do not shift while being read.
 */
export function useLiveList(accountId: number, filters: Filters, openId: number | null) {
  const { list, orders, sortedNewest, addNew, replace, markUndecided, setStates, reload } = useOrderList(
    accountId,
    filters,
  );
  const { arrivals, announcement, receive, drop, clear } = useArrivals(filters, orders, list.hasNextPage);
  useNewOrderAlerts(accountId, announcement);
  const [isAtTop, setAtTop] = useState(true);
  const [jumps, setJumps] = useState(0);
  /** Orders came back into the list that are not loaded. */
  const [isIncomplete, setIncomplete] = useState(false);
  const reported = useRef(new Map<number, string>());
  const [snoozedIds, setSnoozedIds] = useState<ReadonlySet<number>>(new Set());
  const { clearMoved, moveTo, ...review } = useReview(accountId, {
    onSettled: setStates,
    onReturned(returned) {
      const loaded = new Set(orders.map(({ order_id }) => order_id));
      if (filters.state === 'needs_review' && returned.some((id) => !loaded.has(id))) void reload();
    },
    onHeld: markUndecided,
    onUncertain: () => void reload(),
  });

  const { moved } = review;

  const takeOver = (updates: Updates, requestedAt: number) => {
    receive(updates.new);
    for (const order of updates.edited) replace(order);
    const states = moveTo(new Map(updates.changed.map((order) => [order.order_id, order.review_state])), requestedAt);
    if (states.size > 0) setStates(states);
    drop(new Set([...states].filter(([, state]) => state !== filters.state).map(([id]) => id)));
    const loaded = new Set(orders.map(({ order_id }) => order_id));
    // Polls repeat changes for some seconds.
    const fresh = updates.changed.filter(({ order_id, at }) => reported.current.get(order_id) !== at);
    for (const { order_id, at } of fresh) reported.current.set(order_id, at);
    const snoozed = new Set(updates.snoozed.map(({ order_id }) => order_id));
    const decided = new Set(updates.changed.map(({ order_id }) => order_id));
    const isBack = (id: number) => !snoozed.has(id) && !decided.has(id) && !loaded.has(id);
    if ([...snoozed].join() !== [...snoozedIds].join()) setSnoozedIds(snoozed);
    // Back before the time that is known here, or by another clock.
    const until = new Date().toISOString();
    for (const order of orders)
      if (order.snooze && snoozedIds.has(order.order_id) && !snoozed.has(order.order_id))
        replace({ ...order, snooze: { ...order.snooze, until } });
    const returned =
      fresh.some(({ order_id: id }) => states.get(id) === filters.state && !loaded.has(id)) ||
      (filters.state === 'needs_review' && [...snoozedIds].some(isBack));
    if (list.isSuccess && (returned || updates.more_changes)) setIncomplete(true);
  };
  const updates = useUpdates(accountId, filters, list.isSuccess ? orders : undefined, openId, takeOver);

  const catchUp = useEffectEvent(() => {
    if (arrivals.gap || isIncomplete) void reload();
    else addNew(arrivals.orders);
    clear();
    setIncomplete(false);
  });
  const waiting = arrivals.orders.length;
  useEffect(() => {
    if (isAtTop && (waiting > 0 || isIncomplete)) catchUp();
  }, [isAtTop, waiting, isIncomplete]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters load another list.
  useEffect(() => {
    clearMoved();
    setIncomplete(false);
  }, [filters, clearMoved]);

  const shown = useMemo(
    () =>
      orders.filter(
        ({ order_id, review_state }) =>
          (moved.get(order_id) ?? review_state) === filters.state &&
          // A search also finds what is snoozed.
          (filters.q !== '' || !snoozedIds.has(order_id)),
      ),
    [orders, moved, snoozedIds, filters.state, filters.q],
  );
  return {
    list,
    orders: shown,
    /** Whether the list had orders, which were decided meanwhile. */
    hadOrders: orders.length > 0 || moved.size > 0,
    sortedNewest,
    ...review,
    replace,
    arrivals,
    announcement,
    updates,
    jumps,
    setAtTop,
    jump: () => setJumps((count) => count + 1),
  };
}
