import type { NextOrder } from '@orders/portal/review/next-order-routes.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { ReviewState } from '../../../api/review.ts';
import { useNotices } from '../../../components/notices.tsx';
import { DOUBLE_CLICK_MS, useAction } from '../../../components/use-action.ts';
import { useShowProblem } from '../../../components/use-show-problem.ts';
import type { ListState } from '../list/list-state.ts';
import { orderKey } from '../order/use-order.ts';

export type Next = ReturnType<typeof useNextForMe>;

/**
 * Opens the oldest order that nobody else has open. After the decision about it the next one follows by itself; an order that was left without
 * a decision comes again after all later ones.
 */
export function useNextForMe(props: Pick<ListState, 'url' | 'navigation'> & { stateOf: (id: number) => ReviewState }) {
  const { navigation, stateOf } = props;
  const { accountId, openId } = props.url;
  const { t } = useTranslation('review');
  const showProblem = useShowProblem();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const given = useRef<{ id: number; at: number } | null>(null);
  const passedOver = useRef<number | undefined>(undefined);
  const opened = useRef(openId);
  opened.current = openId;
  /** The next order for this reviewer is theirs for some seconds; null if there is none, or others have all of them open. */
  const claim = useAction({
    mutationFn: (body: { after: number | undefined; open: number | undefined }) =>
      call<NextOrder>('POST', `/accounts/${accountId}/orders/next`, { body }),
  });
  /** The second press of a double press must not pass over an order that nobody could read yet. */
  const isSeen = ({ id, at }: { id: number; at: number }) =>
    performance.now() - at >= DOUBLE_CLICK_MS &&
    (openId !== id || queryClient.getQueryState(orderKey(accountId, id))?.status !== 'pending');
  const ask = (onNone: () => void) => {
    const from = { after: passedOver.current, open: openId ?? undefined };
    claim.mutate(from, {
      onSuccess({ order_id: id, all_taken }) {
        // Meanwhile the person went elsewhere.
        if (opened.current !== openId) return;
        if (id === null) {
          notices.show({ text: t(all_taken ? 'next.taken' : 'next.none') });
          return onNone();
        }
        given.current = { id, at: performance.now() };
        if (from.after !== undefined && id <= from.after) passedOver.current = undefined;
        navigation.go(id);
      },
      onError: showProblem,
    });
  };
  return {
    open() {
      const last = given.current;
      if (last && !isSeen(last)) return;
      if (last && stateOf(last.id) === 'needs_review') passedOver.current = last.id;
      ask(() => {});
    },
    /** Whether an order was opened by this and not from the list. */
    isGiven: (id: number | null) => id !== null && id === given.current?.id,
    /** The open order was decided. */
    follow: () => ask(navigation.close),
  };
}
