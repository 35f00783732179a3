import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { Order, OrderDetail } from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Actor } from '../../../components/actor.tsx';
import { useProblemText } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago } from '../../../components/time.tsx';
import { useAction } from '../../../components/use-action.ts';
import { nameOfOrder } from '../name-of-order.ts';
import './cancellation.css';

/** The sender's request to cancel the open order after it was dispatched, and who has dealt with it. */
export function CancellationPanel(props: {
  order: Order;
  request: NonNullable<OrderDetail['cancellation']>;
}): ReactNode {
  const { order, request } = props;
  const { t } = useTranslation('review');
  const titleId = useId();
  const { closed_at, closed_by } = request;
  const isOpen = closed_at === null;
  return (
    <section
      tabIndex={-1}
      className={isOpen ? 'order-box cancellation is-open' : 'order-box cancellation'}
      aria-labelledby={titleId}
    >
      <div role="status">
        <h3 id={titleId}>{t(isOpen ? 'cancellation.open' : 'cancellation.closed')}</h3>
      </div>
      <p className="hint">
        <span>
          {t('cancellation.by')} <Actor actor={request.requested_by} />, <Ago at={request.requested_at} />
          {request.reason !== null && (
            <>
              : <q dir="auto">{request.reason}</q>
            </>
          )}
        </span>
      </p>
      {isOpen && (
        <>
          <p>{t(request.ordered_again_at === null ? 'cancellation.openAbout' : 'cancellation.orderedAgain')}</p>
          <div className="row">
            <DoneButton orderId={order.order_id} number={order.order_number} name={nameOfOrder(order)} />
            <HelpLink page="cancelled-orders" anchor="requests" />
          </div>
        </>
      )}
      {closed_at !== null && closed_by !== null && (
        <p className="hint">
          <span>
            {t('cancellation.doneBy')} <Actor actor={closed_by} />, <Ago at={closed_at} />
          </span>
        </p>
      )}
    </section>
  );
}

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
    mutationFn: () =>
      call('POST', `/accounts/${accountId}/orders/cancellations/close`, { body: { order_ids: [orderId] } }),
    onSuccess: () => notices.show({ text: t('notice.requestDone', { name }) }),
    onError: (error) => notices.show({ kind: 'bad', text: textOf(error) }),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['updates', accountId] }),
        queryClient.invalidateQueries({ queryKey: ['order', accountId, orderId] }),
      ]),
  });
}
