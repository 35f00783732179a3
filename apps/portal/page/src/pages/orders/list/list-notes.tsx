import { AlarmClock, ArrowUp, TriangleAlert, X } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useDeadCounts } from '../../../api/receipts.ts';
import type { SnoozedOrder } from '../../../api/review-list.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Dotted } from '../../../components/card.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { shortTime } from '../../../components/time.tsx';
import type { Announcement, Arrivals } from './use-arrivals.ts';

const EVERY_MS = 60_000;

/** Deliveries that became no order, so that nobody waits for one in vain. Who has seen them hides this, on this device, until another fails. */
export function FailedDeliveries({ accountId }: { accountId: number }): ReactNode {
  const { t } = useTranslation('review');
  const { data } = useDeadCounts(accountId, EVERY_MS);
  const stored = `failed-seen-${accountId}`;
  const [seen, setSeen] = useState(() => localStorage.getItem(stored) ?? '');
  const codes = data?.codes ?? [];
  const count = codes.reduce((sum, code) => sum + code.count, 0);
  const oldest = codes.map(({ oldest_at }) => oldest_at).toSorted()[0] ?? '';
  const newest =
    codes
      .map(({ newest_at }) => newest_at)
      .toSorted()
      .at(-1) ?? '';
  const hide = () => {
    localStorage.setItem(stored, newest);
    setSeen(newest);
  };
  return (
    <div role="status">
      {newest > seen && (
        <div className="row list-note note-warn">
          <TriangleAlert aria-hidden="true" size={16} />
          <span>
            <Dotted>
              {t('list.failed', { count, formatted: formatCount(count) })}
              {t('list.failedOldest', { count, time: shortTime(oldest) })}
              <Link href={`/accounts/${accountId}/receipts?state=dead`}>{t('list.failedSee', { count })}</Link>
            </Dotted>
          </span>
          <IconButton label={t('list.failedHide')} Icon={X} size={16} onClick={hide} />
        </div>
      )}
    </div>
  );
}

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

/** Says that the list may be out of date, and since when. */
export function StaleNote({ since, retry }: { since: number | null; retry: () => void }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <div role="status">
      {since !== null && (
        <div className="row list-note note-warn">
          <TriangleAlert aria-hidden="true" size={16} />
          <span>{t('list.stale', { time: shortTime(since) })}</span>
          <Button onClick={retry}>{t('common:action.retry')}</Button>
        </div>
      )}
    </div>
  );
}

/** Announces new orders to screen readers, and offers to scroll up to those that wait above. */
export function NewOrdersPill(props: {
  arrivals: Arrivals;
  announcement: Announcement | null;
  onJump: () => void;
}): ReactNode {
  const { arrivals, announcement, onJump } = props;
  const { t } = useTranslation('review');
  const count = arrivals.orders.length;
  return (
    <>
      <p className="visually-hidden" role="status">
        {/* The key makes screen readers announce the same text again. */}
        {announcement && <span key={announcement.newestId}>{t('list.new', { count: announcement.count })}</span>}
      </p>
      {count > 0 && (
        <Button Icon={ArrowUp} kind="main" className="new-orders" onClick={onJump}>
          {t(arrivals.gap ? 'list.manyNew' : 'list.new', { count })}
        </Button>
      )}
    </>
  );
}
