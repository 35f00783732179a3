import { Plus } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ListedOrder, OrderDetail } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import {
  emirateText,
  fieldLabel,
  fieldText,
  formatAmount,
  formatPhone,
  phoneAddress,
} from '../../../components/order-values.ts';
import type { Editing } from '../edit/editing.ts';
import { FieldRow } from '../edit/field-row.tsx';
import { AddressActions, PhoneActions } from './contact-actions.tsx';
import { changesByField, FieldChangeNote } from './field-change.tsx';
import { BLOCKED_FIELD, type FieldEntry, KEY_FIELDS, MINOR_FIELDS, PLACE_FIELDS, warningsByField } from './fields.ts';
import { ItemsTable } from './items-table.tsx';
import { UnknownFields } from './unknown-fields.tsx';
import { Corrections, WarningNotes } from './warning-notes.tsx';

const isUnknown = ({ code }: { code: string }) => code === 'unknown_field';

/**
 * All fields of an order: what a reviewer matches first, then where it goes, the items, and the rest. Empty fields that an order can do
 * without are only offered.
 */
export function OrderFields({ detail, editing }: { detail: OrderDetail; editing: Editing }): ReactNode {
  const { t } = useTranslation('review');
  const { order } = detail;
  const { warnings } = order;
  const warned = warningsByField(warnings);
  const changes = changesByField(detail.history);
  const blocking = new Set(order.blockers.map((blocker) => BLOCKED_FIELD[blocker]));
  const isHidden = ({ pointer, need, ...field }: FieldEntry) =>
    field.valueOf(order) === null &&
    !need &&
    !warned.has(pointer) &&
    editing.pointer !== pointer &&
    !editing.drafts[pointer];
  const rowsOf = (fields: FieldEntry[]) =>
    fields
      .filter((field) => !isHidden(field))
      .map((field) => (
        <FieldRow
          key={field.pointer}
          field={field}
          label={fieldLabel(t, field.pointer)}
          value={field.valueOf(order)}
          warnings={warned.get(field.pointer)}
          editing={editing}
          isBlocking={blocking.has(field.pointer)}
          actions={<Actions field={field} order={order} />}
          change={<FieldChangeNote pointer={field.pointer} change={changes.get(field.pointer)} />}
        >
          <Value field={field} order={order} />
        </FieldRow>
      ));
  const hidden = [...PLACE_FIELDS, ...MINOR_FIELDS].filter(isHidden);
  const elsewhere = warned.get('')?.filter((warning) => !isUnknown(warning));
  return (
    <div className="order-facts">
      <dl className="facts-key">{rowsOf(KEY_FIELDS)}</dl>
      <dl>{rowsOf(PLACE_FIELDS)}</dl>
      <ItemsTable items={order.items} count={order.item_count} warned={warned} editing={editing} />
      <FieldChangeNote pointer="/items" change={changes.get('/items')} />
      <UnknownFields warnings={warnings.filter(isUnknown)} detail={detail} editing={editing} />
      <dl className="facts-minor">
        {rowsOf(MINOR_FIELDS)}
        <Ids order={order} />
      </dl>
      <AddChips fields={hidden} editing={editing} />
      <WarningNotes warnings={elsewhere} named />
      <Corrections warnings={warnings} />
    </div>
  );
}

/** Opens the editor of an empty field. The button gets the focus back when the field stays empty. */
function AddChips({ fields, editing }: { fields: FieldEntry[]; editing: Editing }): ReactNode {
  const { t } = useTranslation('review');
  const opened = useRef<string | null>(null);
  const row = useRef<HTMLDivElement>(null);
  const { begin, pointer: edited } = editing;
  useEffect(() => {
    if (edited !== null || opened.current === null) return;
    row.current?.querySelector<HTMLElement>(`[data-pointer="${opened.current}"]`)?.focus();
    opened.current = null;
  }, [edited]);
  return (
    <div ref={row} className="row add-chips">
      {begin &&
        fields.map(({ pointer }) => (
          <button
            key={pointer}
            type="button"
            className="quiet-chip"
            data-pointer={pointer}
            onClick={() => {
              opened.current = pointer;
              begin(pointer);
            }}
          >
            <Plus aria-hidden="true" size={14} />
            {t('field.add', { field: fieldLabel(t, pointer) })}
          </button>
        ))}
    </div>
  );
}

function Ids({ order }: { order: ListedOrder }): ReactNode {
  const { source, source_order_id, receipt_id } = order;
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const id = (name: string, value: ReactNode) => (
    <div className="fact">
      <dt>{name}</dt>
      <dd className="fact-value">{value}</dd>
    </div>
  );
  const platformId = source?.platform_id !== source_order_id && source?.platform_id;
  return (
    <>
      {id(t('field.sourceOrderId'), <bdi dir="auto">{source_order_id}</bdi>)}
      {platformId && id(t('field.platformId', { source: source.name }), <bdi dir="auto">{platformId}</bdi>)}
      {id(
        t('field.receipt'),
        <Link href={`/accounts/${accountId}/receipts/${receipt_id}`} className="mono" dir="ltr">
          {receipt_id}
        </Link>,
      )}
    </>
  );
}

function Actions({ field: { pointer }, order }: { field: FieldEntry; order: ListedOrder }): ReactNode {
  if (pointer === '/customer/phone' && order.customer.phone !== null)
    return <PhoneActions phone={order.customer.phone} order={order} />;
  if (pointer === '/address') return <AddressActions order={order} />;
  return null;
}

function Value({ field, order }: { field: FieldEntry; order: ListedOrder }): ReactNode {
  const { t } = useTranslation('review');
  const value = field.valueOf(order) ?? '';
  switch (field.kind) {
    case 'amount':
      return (
        <bdi dir="ltr" className="amount">
          {formatAmount(value)} <small>{order.currency}</small>
        </bdi>
      );
    case 'phone':
      return (
        <a className="phone" href={phoneAddress(value)}>
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
    case 'choice':
      return <span>{fieldText(t, field.pointer, value)}</span>;
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
