import { AlarmClock } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { SnoozedOrder } from '../../../api/review-list.ts';
import { Button } from '../../../components/button.tsx';
import { Dotted } from '../../../components/card.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { shortTime } from '../../../components/time.tsx';

/** How many orders are snoozed and when the first comes back, above the list; opened, the orders. */
export function SnoozedOrders(props: {
  /** The first to come back first. */
  snoozed: readonly SnoozedOrder[];
  addressOf: (orderId: number) => string;
}): ReactNode {
  const { snoozed, addressOf } = props;
  const { t } = useTranslation('review');
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const [next] = snoozed;
  if (!next) return null;
  return (
    <div className="snoozed-orders">
      <Button kind="quiet" Icon={AlarmClock} aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {t('snooze.list', {
          formatted: formatCount(snoozed.length),
          time: shortTime(next.until),
        })}
      </Button>
      <ul id={id} className="plain" hidden={!isOpen}>
        {isOpen &&
          snoozed.map(({ order_id, order_number, customer_name, until }) => (
            <li key={order_id}>
              <Dotted>
                <Link href={addressOf(order_id)}>
                  <bdi dir="auto">{order_number}</bdi>
                </Link>
                {customer_name !== null && <bdi>{customer_name}</bdi>}
                {t('snooze.until', { time: shortTime(until) })}
              </Dotted>
            </li>
          ))}
      </ul>
    </div>
  );
}
