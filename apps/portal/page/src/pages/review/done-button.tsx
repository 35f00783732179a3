import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useCan } from '../../api/permissions.ts';
import { closeCancellations } from '../../api/review.ts';
import { useAccountId } from '../../api/session.ts';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';

/** For reviewers: marks the request to cancel an order as done. When it disappears, its section gets the focus. */
export function DoneButton(props: { orderId: number; number: string; name: string }): ReactNode {
  const can = useCan();
  return can('review') && <Button {...props} />;
}

function Button(props: { orderId: number; number: string; name: string }): ReactNode {
  const { orderId, number, name } = props;
  const { t } = useTranslation('review');
  const close = useCloseRequest(orderId, name);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const element = button.current;
    const section = element?.closest('section');
    return () => {
      if (document.activeElement === element) section?.focus();
    };
  }, []);
  return (
    <button
      ref={button}
      type="button"
      className="button"
      aria-label={t('cancellation.doneNamed', { number })}
      aria-disabled={close.isPending}
      onClick={() => !close.isPending && close.mutate()}
    >
      {t('cancellation.done')}
    </button>
  );
}

/** Marks the request to cancel an order as done. @param name of the order, for the notice. */
function useCloseRequest(orderId: number, name: string) {
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
