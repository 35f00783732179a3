import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Order, OrderDetail } from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Actor } from '../../../components/actor.tsx';
import { Quote } from '../../../components/card.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClosing } from '../decide/use-closing.ts';
import { nameOfOrder } from '../name-of-order.ts';
import './cancellation.css';

/** The sender's request to cancel the open order after it was dispatched, and who has dealt with it. */
export function CancellationPanel(props: {
  order: Order;
  request: NonNullable<OrderDetail['cancellation']>;
}): ReactNode {
  const { order, request } = props;
  const { t } = useTranslation('review');
  const can = useCan();
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
              : <Quote text={request.reason} />
            </>
          )}
        </span>
      </p>
      {isOpen && (
        <>
          <p>{t(request.ordered_again_at === null ? 'cancellation.openAbout' : 'cancellation.orderedAgain')}</p>
          <div className="row">
            {can('review') && (
              <DoneButton
                names={new Map([[order.order_id, nameOfOrder(order)]])}
                label={t('cancellation.doneNamed', { number: order.order_number })}
              >
                {t('cancellation.done')}
              </DoneButton>
            )}
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

/** Marks the requests to cancel orders as done. When it disappears, its section gets the focus. */
export function DoneButton(props: {
  /** What the orders are called in messages, by id. */
  names: ReadonlyMap<number, string>;
  label?: string;
  onClick?: () => void;
  children: ReactNode;
}): ReactNode {
  const { names, label, onClick, children } = props;
  const closing = useClosing(useAccountId());
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
      aria-label={label}
      aria-disabled={[...names.keys()].every(closing.isClosing)}
      onClick={() => {
        closing.close(names);
        onClick?.();
      }}
    >
      {children}
    </button>
  );
}
