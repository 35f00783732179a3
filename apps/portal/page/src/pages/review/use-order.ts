import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import { decideResend, type Edits, type ListedOrder, type OrderDetail, toListedOrder } from '../../api/review.ts';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';

const POLL_INTERVAL_MS = 5000;

/**
 * Loads one order, polls it while the page is visible, and provides mutations to edit it and to decide on a resend.
 *
 * @param onLoaded called with each new version, for the list.
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
    refetchInterval: POLL_INTERVAL_MS,
  });
  const shared = {
    async onSuccess(changed: OrderDetail) {
      const { order } = changed;
      // Another order may be open now.
      const itsKey = ['order', accountId, order.order_id];
      // A response still in flight would restore the old version.
      await queryClient.cancelQueries({ queryKey: itsKey });
      queryClient.setQueryData(itsKey, changed);
      onLoaded(toListedOrder(order));
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
    mutationFn: (choice: Parameters<typeof decideResend>[2]) => decideResend(accountId, orderId, choice),
    ...shared,
  });

  const seen = useRef<{ orderId: number; newest: string | undefined } | undefined>(undefined);
  const receive = useEffectEvent(({ order, resends }: OrderDetail) => {
    const newest = resends[0]?.receipt_id;
    if (seen.current?.orderId === orderId && newest !== undefined && newest !== seen.current.newest)
      notices.show({ text: t('resend.arrived') });
    seen.current = { orderId, newest };
    onLoaded(toListedOrder(order));
  });
  useEffect(() => {
    if (detail.data) receive(detail.data);
  }, [detail.data]);
  return { detail, edit, decision };
}
