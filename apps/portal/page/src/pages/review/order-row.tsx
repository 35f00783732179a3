import { Repeat2, TriangleAlert } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ListedOrder } from '../../api/review.ts';
import { emirateText, formatAmount, formatPhone } from '../../components/format-value.ts';
import { Ago } from '../../components/time.tsx';

interface OrderRowProps {
  order: ListedOrder;
  href: string;
  /** From the top of the list, in pixels. */
  top: number;
  position: number;
  total: number;
  isCurrent: boolean;
  /** The only row in the tab order; arrow keys reach the others. */
  isEntrance: boolean;
  isOpen: boolean;
  isSelected: boolean;
  onSelect: (id: number, range: boolean) => void;
  onVisit: (id: number) => void;
}

/** An order in the list, in columns or, on little space, in two lines. */
export const OrderRow = memo(function OrderRow(props: OrderRowProps): ReactNode {
  const { order, href, top, position, total, isCurrent, isEntrance, isOpen, isSelected, onSelect, onVisit } = props;
  const { t } = useTranslation('review');
  const { order_id, order_number, customer, area, warning_count, channel, received_at, resent } = order;
  const place = [emirateText(t, order), area].filter(Boolean).join(' · ');
  return (
    <li
      className={['order-row', isCurrent && 'is-current', isSelected && 'is-selected'].filter(Boolean).join(' ')}
      style={{ transform: `translateY(${top}px)` }}
      data-order={order_id}
      aria-setsize={total}
      aria-posinset={position}
    >
      <label className="order-check">
        <input
          type="checkbox"
          checked={isSelected}
          tabIndex={isEntrance ? 0 : -1}
          aria-label={t('list.select', { number: order_number })}
          // Only click events tell whether Shift is held.
          onClick={(event) => onSelect(order_id, event.shiftKey)}
          onChange={() => {}}
        />
      </label>
      <Link
        href={href}
        className="order-number"
        dir="auto"
        tabIndex={isEntrance ? 0 : -1}
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => onVisit(order_id)}
      >
        {order_number}
      </Link>
      <span className="order-customer" dir="auto">
        {customer.name ?? '–'}
      </span>
      <span className="order-phone">
        <bdi dir="ltr">{customer.phone === null ? '–' : formatPhone(customer.phone)}</bdi>
      </span>
      <span className="order-place" dir="auto">
        {place || '–'}
      </span>
      <span className="order-total">
        <bdi dir="ltr">{order.total === null ? '–' : `${formatAmount(order.total)} ${order.currency}`}</bdi>
      </span>
      <span className="order-warnings">
        {warning_count > 0 && (
          <span className="badge badge-warn">
            <TriangleAlert aria-hidden="true" size={12} />
            <span aria-hidden="true">{warning_count}</span>
            <span className="visually-hidden">{t('list.warnings', { count: warning_count })}</span>
          </span>
        )}
        {resent && (
          <span className={resent === 'undecided' ? 'badge badge-warn' : 'badge'} title={t(`list.resent.${resent}`)}>
            <Repeat2 aria-hidden="true" size={14} />
            <span className="visually-hidden">{t(`list.resent.${resent}`)}</span>
          </span>
        )}
      </span>
      <span className="order-channel">{t(`common:channel.${channel}`)}</span>
      <span className="order-age">
        <Ago at={received_at} />
      </span>
    </li>
  );
});
