import { Phone } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ListedOrder, Order } from '../../api/review.ts';
import { useAccountId } from '../../api/session.ts';
import { emirateText, formatAmount, formatPhone } from '../../components/format-value.ts';
import { fieldLabel } from '../../components/order-values.ts';
import { type Editing, FieldRow } from './field-row.tsx';
import { FIELDS, type FieldEntry, MONEY_FIELDS, OTHER_FIELDS, warningsByField } from './fields.ts';
import { ItemsTable } from './items-table.tsx';
import { WarningNotes } from './warning-notes.tsx';

/**
 * All fields of an order in a dispatcher's reading order.
 *
 * @param props.fullOrder the order with items and warnings, once loaded.
 */
export function OrderFields({
  order,
  fullOrder,
  editing,
}: {
  order: ListedOrder;
  fullOrder: Order | undefined;
  editing: Editing;
}): ReactNode {
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const warned = warningsByField(fullOrder?.warnings ?? []);
  const rowsOf = (fields: FieldEntry[]) =>
    fields.map((field) => (
      <FieldRow
        key={field.pointer}
        pointer={field.pointer}
        label={fieldLabel(t, field.pointer)}
        kind={field.kind}
        value={field.valueOf(order)}
        warnings={warned.get(field.pointer)}
        editing={editing}
      >
        <Value field={field} order={order} />
      </FieldRow>
    ));
  const elsewhere = warned.get('');
  return (
    <div className="order-facts">
      <dl>{rowsOf(FIELDS)}</dl>
      <ItemsTable items={fullOrder?.items} count={order.item_count} warned={warned} editing={editing} />
      <dl>{rowsOf(MONEY_FIELDS)}</dl>
      <dl>
        {rowsOf(OTHER_FIELDS)}
        <div className="fact">
          <dt>{t('field.sourceOrderId')}</dt>
          <dd className="fact-value">
            <bdi dir="auto">{order.source_order_id}</bdi>
          </dd>
        </div>
        <div className="fact">
          <dt>{t('field.receipt')}</dt>
          <dd className="fact-value">
            <Link href={`/accounts/${accountId}/receipts/${order.receipt_id}`} className="mono" dir="ltr">
              {order.receipt_id}
            </Link>
          </dd>
        </div>
      </dl>
      {elsewhere && (
        <section className="stack-tight">
          <h3>{t('field.elsewhere')}</h3>
          <WarningNotes warnings={elsewhere} named />
        </section>
      )}
    </div>
  );
}

function Value({ field, order }: { field: FieldEntry; order: ListedOrder }): ReactNode {
  const { t } = useTranslation('review');
  const value = field.valueOf(order) ?? '';
  if (field.pointer === '/total') {
    return (
      <bdi dir="ltr" className="amount">
        {formatAmount(value)} <small>{order.currency}</small>
      </bdi>
    );
  }
  switch (field.kind) {
    case 'phone':
      return (
        <a className="phone" href={`tel:${value.replace(/[^+\d;=a-z]/gi, '')}`}>
          <Phone aria-hidden="true" size={18} />
          <bdi dir="ltr">{formatPhone(value)}</bdi>
        </a>
      );
    case 'emirate':
      return (
        <span className="row">
          <bdi>{emirateText(t, order)}</bdi>
          {order.emirate_code !== null && <span className="badge">{order.emirate_code}</span>}
        </span>
      );
    case 'code':
      return <bdi dir="ltr">{value}</bdi>;
    default:
      return (
        <span dir="auto" className={field.kind === 'long' ? 'long-text' : undefined}>
          {value}
        </span>
      );
  }
}
