import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { OrderDetail } from '../../../api/review.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useAction } from '../../../components/use-action.ts';
import { ReasonDialog } from '../decide/reject-dialog.tsx';

/** Takes back the confirmation of an order, or asks the dispatching system to stop it, with a reason. */
export function RecallDialog(props: {
  accountId: number;
  orderId: number;
  number: string;
  /** Shows the changed order. */
  accept: (changed: OrderDetail) => Promise<void>;
  onClose: () => void;
}): ReactNode {
  const { accountId, orderId, number, accept, onClose } = props;
  const { t } = useTranslation('review');
  const notices = useNotices();
  const queryClient = useQueryClient();
  const recall = useAction({
    mutationFn: (reason: string) =>
      call<OrderDetail>('POST', `/accounts/${accountId}/orders/${orderId}/recall`, { body: { reason } }),
    async onSuccess(changed: OrderDetail) {
      await accept(changed);
      const isBack = changed.review.state === 'needs_review';
      notices.show({ text: t(isBack ? 'recall.back' : 'recall.requested', { number }) });
      onClose();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['updates', accountId] }),
  });
  return (
    <ReasonDialog
      title={t('order.recall', { number })}
      submit={t('action.recall')}
      action={recall}
      onReason={(reason) => recall.mutate(reason)}
      onClose={onClose}
    >
      <p>{t('recall.about')}</p>
    </ReasonDialog>
  );
}
