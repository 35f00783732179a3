import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Order, OrderDetail } from '../../api/review.ts';
import { Actor } from '../../components/actor.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { Ago } from '../../components/time.tsx';
import { DoneButton } from './done-button.tsx';
import { nameOfOrder } from './name-of-order.ts';
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
