import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { PrintedOrder } from '../../../api/review-list.ts';
import { emirateText, fieldText, formatAmount, formatPhone } from '../../../components/order-values.ts';
import { fullTime } from '../../../components/time.tsx';

/** An order as the kitchen and the courier read it, in black on white. `marks` say above it what is special about this paper. */
export function OrderOnPaper({ order, marks }: { order: PrintedOrder; marks?: ReactNode }): ReactNode {
  const { t } = useTranslation('review');
  const { customer, review_state, source, channel, items } = order;
  const place = [order.address, order.area, emirateText(t, order)].filter(Boolean).join(', ');
  const moreItems = order.item_count - items.length;
  const from = source?.name ?? t(`common:channel.${channel}`);
  const isDecidedAgainst = review_state !== 'needs_review' && review_state !== 'confirmed';
  return (
    <article className="printed-order">
      {order.is_test && <p className="printed-mark">{t('print.test')}</p>}
      {isDecidedAgainst && <p className="printed-mark">{t(`print.state.${review_state}`)}</p>}
      {marks}
      <header>
        <h2>
          <bdi>{order.order_number}</bdi>
        </h2>
        {order.delivery_method !== null && (
          <p className="printed-large">{fieldText(t, '/delivery_method', order.delivery_method)}</p>
        )}
      </header>
      {order.delivery_time !== null && (
        <p className="printed-large">
          <bdi>{order.delivery_time}</bdi>
        </p>
      )}
      <ul className="plain printed-items">
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no id.
          <ItemOnPaper key={index} item={item} />
        ))}
      </ul>
      {moreItems > 0 && <p className="printed-mark">{t('print.moreItems', { count: moreItems })}</p>}
      {order.delivery_instructions !== null && <Text text={order.delivery_instructions} className="printed-large" />}
      {order.details !== null && <Text text={order.details} />}
      <p className="printed-mark">{paymentText(t, order)}</p>
      <p className="printed-large">
        {t('column.total')}: <bdi dir="ltr">{amountOf(order) ?? '–'}</bdi>
      </p>
      <p className="printed-large">
        <bdi>{customer.name ?? '–'}</bdi>
      </p>
      <p className="printed-large">
        <bdi dir="ltr">{customer.phone === null ? '–' : formatPhone(customer.phone)}</bdi>
      </p>
      <p>
        <bdi>{place || '–'}</bdi>
      </p>
      {order.notes.map(({ text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the notes of an order on paper never change.
        <Text key={index} text={text} className="printed-note" />
      ))}
      <p>
        {t('print.from', { name: from })} · <bdi>{fullTime(order.received_at)}</bdi>
      </p>
    </article>
  );
}

/** What platforms put between the name of an item, its options and its notes. */
const BETWEEN_OPTIONS = /, |\n/;

function ItemOnPaper({ item: { quantity, name, sku } }: { item: PrintedOrder['items'][number] }): ReactNode {
  const [first = '–', ...options] = name?.split(BETWEEN_OPTIONS).filter(Boolean) ?? [];
  return (
    <li>
      <bdi dir="ltr" className="printed-quantity">
        {quantity ?? '–'} ×
      </bdi>
      <div>
        <p className="printed-large">
          <bdi>{first}</bdi>
        </p>
        {options.map((option, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two options can be the same.
          <p key={index} className="printed-option">
            <bdi>{option}</bdi>
          </p>
        ))}
        {sku !== null && (
          <p className="printed-option">
            <bdi dir="ltr">{sku}</bdi>
          </p>
        )}
      </div>
    </li>
  );
}

function Text({ text, className = '' }: { text: string; className?: string }): ReactNode {
  return (
    <p className={`long-text ${className}`} dir="auto">
      {text}
    </p>
  );
}

function amountOf({ total, currency }: PrintedOrder): string | null {
  return total === null ? null : `${formatAmount(total)} ${currency}`;
}

/** Whether it is paid, or how much the courier collects. */
function paymentText(t: TFunction, order: PrintedOrder): string {
  const { payment_state } = order;
  const amount = amountOf(order);
  if (payment_state === null) return t('review:print.paymentUnknown');
  if (payment_state === 'paid') return t('review:print.paid');
  if (payment_state !== 'cash_on_delivery') return fieldText(t, '/payment_state', payment_state);
  return amount === null ? t('review:print.collectUnknown') : t('review:print.collect', { amount });
}
