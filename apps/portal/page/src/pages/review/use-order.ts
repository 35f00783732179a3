import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, isProblem } from '../../api/client.ts';
import type { Edits, Order, OrderDetail } from '../../api/review.ts';
import { useNotices } from '../../parts/notices.tsx';
import { useProblemText } from '../../parts/problem-note.tsx';

/**
 * One order in full, and how to edit it.
 *
 * @param onEdited the order as it is now, for the list beside it.
 */
export function useOrder(accountId: number, orderId: number, onEdited: (order: Order) => void) {
  const textOf = useProblemText();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const path = `/accounts/${accountId}/orders/${orderId}`;
  const queryKey = ['order', accountId, orderId];
  const detail = useQuery({ queryKey, queryFn: ({ signal }) => call<OrderDetail>('GET', path, { signal }) });
  const edit = useMutation({
    mutationFn: (edits: Edits) => call<OrderDetail>('PATCH', path, { body: { edits } }),
    onSuccess: (changed) => {
      queryClient.setQueryData(queryKey, changed);
      onEdited(changed.order);
    },
    onError: async (error) => {
      notices.show({ kind: 'bad', text: textOf(error) });
      if (isProblem(error, 'conflicting_state')) await queryClient.invalidateQueries({ queryKey });
    },
  });
  return { detail, edit };
}
