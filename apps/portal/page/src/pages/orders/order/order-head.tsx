import type { TFunction } from 'i18next';
import { AlarmClock, ArrowLeft, Printer, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListedOrder, Order } from '../../../api/review.ts';
import { ActionMenu } from '../../../components/action-menu.tsx';
import { CopyIcon } from '../../../components/button.tsx';
import { Dotted } from '../../../components/card.tsx';
import { fieldLabel, fieldText, valueAt } from '../../../components/order-values.ts';
import { OrderAge } from '../order-age.tsx';
import { KEY_FIELDS, PLACE_FIELDS } from './fields.ts';

/** The order's number, origin and age. */
export function OrderHead(props: {
  number: string;
  order: ListedOrder | undefined;
  fullOrder: Order | undefined;
  target: number | null | undefined;
  isWide: boolean;
  onClose: () => void;
  children: ReactNode;
}): ReactNode {
  const { number, order, fullOrder, target, isWide, onClose, children } = props;
  const { t } = useTranslation('review');
  return (
    <header className="row order-head">
      <button
        type="button"
        className="icon-button"
        aria-label={t('order.close')}
        title={t('order.close')}
        onClick={onClose}
      >
        {isWide ? <X aria-hidden="true" size={18} /> : <ArrowLeft aria-hidden="true" size={20} className="flips" />}
      </button>
      <h2>
        <bdi dir="auto">{number}</bdi>
      </h2>
      {order && <CopyIcon text={number} label={t('order.copyNumber')} />}
      {order && (
        <p className="hint row order-origin">
          <span className="badge">
            <Dotted>
              {t(`common:channel.${order.channel}`)}
              {order.source && <bdi>{order.source.name}</bdi>}
            </Dotted>
          </span>{' '}
          {order.is_test && <span className="badge badge-warn">{t('list.testAbout')}</span>}
          <OrderAge order={order} target={target} />
        </p>
      )}
      {fullOrder && <CopyIcon text={orderAsText(t, fullOrder)} label={t('order.copy')} isWhole />}
      {children}
    </header>
  );
}

/** What a reviewer seldom does with the open order. @param props.onSnooze absent if the order does not need review. */
export function OrderMenu(props: { onPrint: () => void; onSnooze: (() => void) | undefined }): ReactNode {
  const { onPrint, onSnooze } = props;
  const { t } = useTranslation('review');
  return (
    <ActionMenu
      label={t('order.more')}
      actions={[
        { name: t('print.print'), Icon: Printer, run: onPrint },
        ...(onSnooze ? [{ name: t('snooze.menu'), Icon: AlarmClock, run: onSnooze }] : []),
      ]}
    />
  );
}

/** The order as lines of text, for a message to a courier. */
function orderAsText(t: TFunction, order: Order): string {
  const lineOf = (pointer: string) => {
    const value = valueAt(order, pointer);
    if (value === null) return [];
    const currency = pointer === '/total' ? ` ${order.currency}` : '';
    return [`${fieldLabel(t, pointer)}: ${fieldText(t, pointer, value)}${currency}`];
  };
  const items = order.items.length === 0 ? [] : [`${fieldLabel(t, '/items')}:\n${fieldText(t, '/items', order.items)}`];
  const lines = [...KEY_FIELDS, ...PLACE_FIELDS].flatMap(({ pointer }) => lineOf(pointer));
  return [...lineOf('/order_number'), ...lines, ...items].join('\n');
}
