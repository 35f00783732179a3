import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { closeCancellations } from '../../api/review.ts';
import { useAccountId } from '../../api/session.ts';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';

/** Marks the request to cancel an order as done. @param name of the order, for the notice. */
export function useCloseRequest(orderId: number, name: string) {
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const textOf = useProblemText();
  const notices = useNotices();
  const queryClient = useQueryClient();
  return useAction({
    mutationFn: () => closeCancellations(accountId, [orderId]),
    onSuccess: () => notices.show({ text: t('notice.requestDone', { name }) }),
    onError: (error) => notices.show({ kind: 'bad', text: textOf(error) }),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['updates', accountId] }),
        queryClient.invalidateQueries({ queryKey: ['order', accountId, orderId] }),
      ]),
  });
}
