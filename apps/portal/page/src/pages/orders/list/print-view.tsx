import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { PrintedOrder } from '../../../api/review-list.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded, Skeleton } from '../../../components/loaded.tsx';
import { emirateText, fieldText, formatAmount, formatPhone } from '../../../components/order-values.ts';
import { fullTime } from '../../../components/time.tsx';
import './print-view.css';

/** Orders on paper, for packing and delivery: over the page on the screen, alone in print. */
export default function PrintView(props: {
  accountId: number;
  orderIds: readonly number[];
  onClose: () => void;
}): ReactNode {
  const { accountId, orderIds, onClose } = props;
  const { t } = useTranslation('review');
  const dialog = useRef<HTMLElement>(null);
  const orders = useQuery({
    queryKey: ['print', accountId, orderIds],
    queryFn: async () => {
      const body = { order_ids: orderIds, format: 'json' };
      return (await call<{ orders: PrintedOrder[] }>('POST', `/accounts/${accountId}/orders/export`, { body })).orders;
    },
    gcTime: 0,
  });
  useEffect(() => {
    const root = document.getElementById('root');
    const before = document.activeElement;
    if (root) root.inert = true;
    dialog.current?.focus();
    return () => {
      if (root) root.inert = false;
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return createPortal(
    <section
      ref={dialog}
      className="print-view"
      role="dialog"
      aria-modal="true"
      aria-label={t('print.title')}
      tabIndex={-1}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Escape') onClose();
      }}
    >
      <header className="row print-head">
        <Button kind="main" disabled={!orders.data} onClick={() => window.print()}>
          {t('print.print')}
        </Button>
        <Button onClick={onClose}>{t('common:action.close')}</Button>
      </header>
      <Loaded query={orders} skeleton={<Skeleton count={8} />}>
        {(printed) => printed.map((order) => <PrintedOrderPart key={order.order_id} order={order} />)}
      </Loaded>
    </section>,
    document.body,
  );
}

function PrintedOrderPart({ order }: { order: PrintedOrder }): ReactNode {
  const { t } = useTranslation('review');
  const place = [order.address, order.area, emirateText(t, order)].filter(Boolean).join(', ');
  return (
    <article className="printed-order">
      <header>
        <h2>
          <bdi>{order.customer.name ?? '–'}</bdi>
        </h2>
        <p>
          <bdi>{order.order_number}</bdi> · {fullTime(order.received_at)}
        </p>
      </header>
      <p className="printed-phone">
        <bdi dir="ltr">{order.customer.phone === null ? '–' : formatPhone(order.customer.phone)}</bdi>
      </p>
      <p>
        <bdi>{place || '–'}</bdi>
      </p>
      {TEXT_FIELD_NAMES.filter((name) => order[name]).map((name) => (
        <p key={name}>
          <bdi>{fieldText(t, `/${name}`, order[name])}</bdi>
        </p>
      ))}
      <table>
        <tbody>
          {order.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no id.
            <tr key={index}>
              <td className="printed-quantity">{item.quantity ?? '–'} ×</td>
              <td>
                <bdi>{item.name ?? '–'}</bdi>
              </td>
              <td>
                <bdi>{item.sku}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {order.notes.map(({ text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the notes of an order on paper never change.
        <p key={index} className="printed-note">
          <bdi>{text}</bdi>
        </p>
      ))}
      <p className="printed-total">
        {t('column.total')}:{' '}
        <bdi dir="ltr">{order.total === null ? '–' : `${formatAmount(order.total)} ${order.currency}`}</bdi>
      </p>
    </article>
  );
}
