import { AlarmClock, Copy, Eye, Repeat2, StickyNote, TriangleAlert } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ListedOrder } from '../../../api/review.ts';
import { actorText } from '../../../components/actor.tsx';
import { emirateText, formatAmount, formatPhone } from '../../../components/order-values.ts';
import { Mark } from '../../../components/state-badge.tsx';
import { Ago, useNow } from '../../../components/time.tsx';
import { blockerTexts } from '../order/order-blockers.tsx';
import { OrderAge } from '../order-age.tsx';
import { isOver, snoozeText } from '../snooze/snooze-text.ts';
import './order-row.css';

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
  isSelectable: boolean;
  isSelected: boolean;
  /** The names of other reviewers who have it open. */
  viewers: string | undefined;
  /** Within how many minutes an order is to be decided. */
  target: number | null | undefined;
  onSelect: (id: number, range: boolean) => void;
  onVisit: (id: number) => void;
}

/** An order in the list, in columns or, on little space, in two lines. */
export const OrderRow = memo(function OrderRow(props: OrderRowProps): ReactNode {
  const { order, href, top, position, total, isCurrent, isEntrance, isOpen } = props;
  const { isSelectable, isSelected, onSelect, onVisit } = props;
  const { t } = useTranslation('review');
  const { order_id, order_number, customer, area } = order;
  const emirate = emirateText(t, order);
  return (
    <li
      className={['order-row', isCurrent && 'is-current', isSelected && 'is-selected'].filter(Boolean).join(' ')}
      style={{ transform: `translateY(${top}px)` }}
      data-order={order_id}
      aria-setsize={total}
      aria-posinset={position}
    >
      {isSelectable ? (
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
      ) : (
        <span className="order-check" />
      )}
      <span className="order-customer" dir="auto">
        {customer.name ?? '–'}
      </span>
      <span className="order-phone">
        <bdi dir="ltr">{customer.phone === null ? '–' : formatPhone(customer.phone)}</bdi>
      </span>
      <span className="order-place">
        {emirate && <bdi>{emirate}</bdi>}
        {emirate && area && ' · '}
        {(area || !emirate) && <bdi className="order-area">{area || '–'}</bdi>}
      </span>
      <span className="order-warnings">
        <Marks order={order} viewers={props.viewers} />
      </span>
      <span className="order-total">
        <bdi dir="ltr">
          {order.total === null ? (
            '–'
          ) : (
            <>
              {formatAmount(order.total)} <span className="order-currency">{order.currency}</span>
            </>
          )}
        </bdi>
      </span>
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
      <WhoAndWhen order={order} target={props.target} />
    </li>
  );
});

/** For orders that need review their age, for others who decided and when. */
function WhoAndWhen({ order, target }: Pick<OrderRowProps, 'order' | 'target'>): ReactNode {
  const { channel, source, reviewed_at, reviewed_by } = order;
  const { t } = useTranslation('review');
  const named = reviewed_by === null ? null : actorText(t, reviewed_by);
  const reviewer =
    reviewed_by === null ? null : <bdi title={named ?? reviewed_by}>{named ?? reviewed_by.split('@')[0]}</bdi>;
  return (
    <>
      <span className="order-channel" title={source?.name}>
        {reviewed_at !== null ? (reviewer ?? '–') : source ? <bdi>{source.name}</bdi> : t(`common:channel.${channel}`)}
      </span>
      <span className="order-age">
        {reviewer && <span className="order-by">{reviewer} · </span>}
        {reviewed_at === null ? <OrderAge order={order} target={target} /> : <Ago at={reviewed_at} />}
      </span>
    </>
  );
}

function Marks({ order, viewers }: { order: ListedOrder; viewers: string | undefined }): ReactNode {
  const { t } = useTranslation('review');
  const { resent, note_count, similar, payment_state, delivery_method, is_test, snooze } = order;
  const now = useNow();
  return (
    <>
      {is_test && <Mark text={t('list.testAbout')} kind="warn" shown={t('list.test')} />}
      <Severity order={order} />
      {payment_state !== null && payment_state !== 'paid' && (
        <Mark
          text={t(`choice.payment_state.${payment_state}`)}
          shown={t(`choice.payment_state.${payment_state}`)}
          kind={payment_state === 'cash_on_delivery' ? undefined : 'warn'}
        />
      )}
      {delivery_method === 'pickup' && (
        <Mark text={t('choice.delivery_method.pickup')} kind="warn" shown={t('choice.delivery_method.pickup')} />
      )}
      {snooze && (
        <Mark text={snoozeText(t, snooze, now)} kind={isOver(snooze, now) ? 'warn' : undefined} Icon={AlarmClock} />
      )}
      {similar && (
        <Mark text={t('list.similar')} kind="warn" Icon={Copy}>
          <span className="mark-text" aria-hidden="true">
            {t('list.duplicate')}
          </span>
        </Mark>
      )}
      {resent && (
        <Mark text={t(`list.resent.${resent}`)} kind={resent === 'undecided' ? 'warn' : undefined}>
          <Repeat2 aria-hidden="true" size={14} />
        </Mark>
      )}
      {note_count > 0 && <Mark text={t('list.notes', { count: note_count })} Icon={StickyNote} />}
      {viewers !== undefined && <Mark text={t('list.viewedBy', { names: viewers })} Icon={Eye} />}
    </>
  );
}

function Severity({ order }: { order: ListedOrder }): ReactNode {
  const { t } = useTranslation('review');
  const { severity, warning_count } = order;
  const [first, ...others] = blockerTexts(t, order);
  if (severity === 'blocks' && first) {
    const list = [first, ...others].join(' · ');
    return (
      <Mark
        text={t('list.blocked', { list })}
        kind="bad"
        shown={others.length > 0 ? `${first} +${others.length}` : first}
      />
    );
  }
  if (warning_count === 0) return null;
  const text = t('list.warnings', { count: warning_count });
  if (severity === 'corrected') return <Mark text={text} kind="dot" />;
  return <Mark text={text} kind="warn" Icon={TriangleAlert} shown={warning_count} />;
}
