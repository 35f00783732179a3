import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { decide, type Edits, type ListedOrder, listedOf, type OrderDetail } from '../../api/review.ts';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';

const POLL = 5000;

/**
 * One order in full, how to edit it, and how to decide about what was sent again of it. Asked for again every five seconds, while the page
 * is visible.
 *
 * @param onLoaded the order as it is now, for the list beside it.
 */
export function useOrder(accountId: number, orderId: number, onLoaded: (order: ListedOrder) => void) {
  const { t } = useTranslation('review');
  const textOf = useProblemText();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const path = `/accounts/${accountId}/orders/${orderId}`;
  const queryKey = ['order', accountId, orderId];
  const detail = useQuery({
    queryKey,
    queryFn: ({ signal }) => call<OrderDetail>('GET', path, { signal }),
    refetchInterval: POLL,
  });
  const shared = {
    async onSuccess(changed: OrderDetail) {
      const { order } = changed;
      // Another order may be open by now.
      const itsKey = ['order', accountId, order.order_id];
      // What was asked for before would bring back what this replaces.
      await queryClient.cancelQueries({ queryKey: itsKey });
      queryClient.setQueryData(itsKey, changed);
      onLoaded(listedOf(order));
    },
    async onError(error: unknown) {
      notices.show({ kind: 'bad', text: textOf(error) });
      if (isProblem(error, 'conflicting_state')) await queryClient.invalidateQueries({ queryKey });
    },
  };
  const edit = useMutation({
    mutationFn: (edits: Edits) => call<OrderDetail>('PATCH', path, { body: { edits } }),
    ...shared,
  });
  const decision = useMutation({
    mutationFn: (made: Parameters<typeof decide>[2]) => decide(accountId, orderId, made),
    ...shared,
  });

  const seen = useRef<{ orderId: number; newest: string | undefined } | undefined>(undefined);
  const receive = useEffectEvent(({ order, resends }: OrderDetail) => {
    const newest = resends[0]?.receipt_id;
    if (seen.current?.orderId === orderId && newest !== undefined && newest !== seen.current.newest)
      notices.show({ text: t('resend.arrived') });
    seen.current = { orderId, newest };
    onLoaded(listedOf(order));
  });
  useEffect(() => {
    if (detail.data) receive(detail.data);
  }, [detail.data]);
  return { detail, edit, decision };
}
