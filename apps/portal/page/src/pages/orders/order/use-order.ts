import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import { useGet } from '../../../api/queries.ts';
import { decideChangedDelivery, type ListedOrder, type OrderDetail, toListedOrder } from '../../../api/review.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useAction } from '../../../components/use-action.ts';
import { useShowProblem } from '../../../components/use-show-problem.ts';

const POLL_INTERVAL_MS = 5000;

/** The key of an order's query. */
export const orderKey = (accountId: number, orderId: number) => ['order', accountId, orderId];

/**
 * Shows a changed version of an order; another order may be open now.
 *
 * @param onLoaded called with it, for the list.
 */
export function useShowChanged(accountId: number, onLoaded: (order: ListedOrder) => void) {
  const queryClient = useQueryClient();
  return async (changed: OrderDetail): Promise<void> => {
    const queryKey = orderKey(accountId, changed.order.order_id);
    // A response still in flight would restore the old version.
    await queryClient.cancelQueries({ queryKey });
    queryClient.setQueryData(queryKey, changed);
    onLoaded(toListedOrder(changed.order));
  };
}

/**
 * Loads one order, polls it while the page is visible, and provides a mutation to decide on a changed delivery.
 *
 * @param onLoaded called with each new version, for the list.
 */
export function useOrder(accountId: number, orderId: number, onLoaded: (order: ListedOrder) => void) {
  const { t } = useTranslation('review');
  const showProblem = useShowProblem();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const queryKey = orderKey(accountId, orderId);
  const accept = useShowChanged(accountId, onLoaded);
  const detail = useGet<OrderDetail>(queryKey, `/accounts/${accountId}/orders/${orderId}`, {
    refetchInterval: POLL_INTERVAL_MS,
  });
  /** Loads the order again, as somebody else was faster. */
  async function reload(): Promise<OrderDetail | undefined> {
    await queryClient.invalidateQueries({ queryKey });
    return queryClient.getQueryData(queryKey);
  }
  const decision = useAction({
    mutationFn: (choice: Parameters<typeof decideChangedDelivery>[2]) =>
      decideChangedDelivery(accountId, orderId, choice),
    onSuccess: accept,
    async onError(error: unknown) {
      showProblem(error);
      if (isProblem(error, 'conflicting_state')) await reload();
    },
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
  return { detail, accept, reload, decision };
}
