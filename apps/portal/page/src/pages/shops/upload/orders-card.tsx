import type { NormalizedOrder } from '@orders/domain/order.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Send, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem, type Json } from '../../../api/client.ts';
import type { Order } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import type { OrderMapping } from '../../../api/sources.ts';
import { Button } from '../../../components/button.tsx';
import { Card, Dotted } from '../../../components/card.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { ProblemNote, Skeleton } from '../../../components/loaded.tsx';
import { fieldLabel, fieldText, itemText, warningText } from '../../../components/order-values.ts';
import { FileProblem } from './file-problem.tsx';
import { readOrdersOf } from './run-in-worker.ts';
import { reasonOf, type SentOrder } from './sending.ts';
import type { TableOrders } from './table-file.ts';

const MAX_PREVIEWED = 20;
const MAX_RETRIES = 5;

type Previewed = Json<NormalizedOrder> | { error: NonNullable<SentOrder['rejection']> };

/** How many orders a file has, the first ones with their warnings, and the button that sends all. */
export function OrdersCard(props: {
  file: File;
  number: number;
  /** Null for the export of a shop. */
  mapping: OrderMapping | null;
  onSend: (orders: TableOrders['orders']) => void;
}): ReactNode {
  const { file, number, mapping, onSend } = props;
  const { t } = useTranslation('upload');
  const read = useQuery({
    queryKey: ['upload', number, 'orders', mapping],
    queryFn: ({ signal }) => readOrdersOf(file, mapping, signal),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    // The result is the orders of the whole file.
    structuralSharing: false,
  });
  if (read.isError) return <FileProblem error={read.error} />;
  if (!read.data) return <Skeleton shape="rows" count={6} />;
  const { orders, left_out } = read.data;
  const sendable = orders.filter(({ rejection }) => !rejection);
  const left = Object.entries(left_out).filter(([, count]) => count > 0);
  return (
    <Card
      title={t('orders.title', { count: sendable.length })}
      className="stack table-scope upload-orders"
      actions={
        <Button
          kind="main"
          Icon={Send}
          disabled={read.isPlaceholderData || sendable.length === 0}
          onClick={() => onSend(orders)}
        >
          {t('orders.send', { count: sendable.length })}
        </Button>
      }
    >
      {left.length > 0 && (
        <p className="hint">
          <Dotted>
            {left.map(([kind, count]) => (
              <span key={kind}>{t(`leftOut.${kind}`, { count })}</span>
            ))}
          </Dotted>
        </p>
      )}
      <Unsendable orders={orders} />
      {sendable.length > 0 && (
        <Preview texts={sendable.slice(0, MAX_PREVIEWED).map(({ text }) => text)} count={sendable.length} />
      )}
    </Card>
  );
}

/** Orders of the file that will not be sent, and rows that contradict each other. */
function Unsendable({ orders }: Pick<TableOrders, 'orders'>): ReactNode {
  const { t } = useTranslation('upload');
  const rejected = orders.filter(({ rejection }) => rejection);
  const contradicting = orders.filter(({ contradictions }) => contradictions);
  if (rejected.length + contradicting.length === 0) return null;
  return (
    <div className="note note-warn stack-tight">
      {rejected.length > 0 && <p>{t('orders.unsendable', { count: rejected.length })}</p>}
      {contradicting.length > 0 && <p>{t('orders.contradicting', { count: contradicting.length })}</p>}
      <ul className="plain">
        {[...rejected, ...contradicting].slice(0, 5).map(({ position, line, rejection, contradictions }) => (
          <li key={position}>
            {t('fault.line', { line })}{' '}
            {rejection
              ? t([`reason.${rejection.code}`, 'reason.other'], { detail: rejection.detail })
              : (contradictions ?? [])
                  .slice(0, 1)
                  .map(({ column, line: at }) =>
                    column === null
                      ? t('orders.repeatedRow', { line: at })
                      : t('orders.contradictsIn', { line: at, column }),
                  )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What the first orders become. */
function Preview({ texts, count }: { texts: string[]; count: number }): ReactNode {
  const { t, i18n } = useTranslation(['upload', 'review']);
  const accountId = useAccountId();
  const preview = useQuery({
    queryKey: ['upload preview', accountId, texts],
    queryFn: async ({ signal }) => {
      const options = { body: { orders: texts }, signal };
      return (await call<{ previews: Previewed[] }>('POST', `/accounts/${accountId}/uploads/preview`, options))
        .previews;
    },
    placeholderData: keepPreviousData,
    gcTime: 0,
    // Others of the account may be sending.
    retry: (count, error) => isProblem(error, 'rate_limited') && count < MAX_RETRIES,
    refetchOnWindowFocus: false,
  });
  if (preview.isError) return <ProblemNote error={preview.error} retry={() => void preview.refetch()} />;
  if (!preview.data) return <Skeleton shape="rows" count={5} />;
  const text = (pointer: string, value: unknown) => (
    <span dir="auto" className="mapped-value">
      {fieldText(t, pointer, value || null)}
    </span>
  );
  const rows = preview.data.map((previewed, at) => ({ at, previewed }));
  /** A cell that is empty for what is no order. */
  const cell = (of: (order: Order) => ReactNode) => (row: (typeof rows)[number]) =>
    'error' in row.previewed ? null : of(row.previewed.order as unknown as Order);
  return (
    <>
      <p className="hint">{t('orders.first', { count: Math.min(count, texts.length) })}</p>
      <DataTable
        label={t('orders.preview')}
        rows={rows}
        keyOf={({ at }) => at}
        columns={[
          {
            header: t('review:field.sourceOrderId'),
            cell: (row) => <bdi>{cell((order) => order.source_order_id)(row) ?? '–'}</bdi>,
          },
          {
            header: t('orders.customer'),
            cell: cell(({ customer }) => (
              <>
                {text('/customer/name', customer.name)}
                <br />
                <bdi dir="ltr">{fieldText(t, '/customer/phone', customer.phone)}</bdi>
              </>
            )),
          },
          {
            header: t('orders.place'),
            cell: cell(({ address, area, emirate }) => (
              <>
                {text('/address', [address, area].filter(Boolean).join(', '))}
                <br />
                {text('/emirate', emirate)}
              </>
            )),
          },
          {
            header: t('review:field.items'),
            cell: (row) => (
              <span dir="auto" className="mapped-value">
                {cell(({ items }) => items.map(itemText).join('\n'))(row)}
              </span>
            ),
          },
          { header: t('review:field.total'), cell: cell(({ total }) => fieldText(t, '/total', total)), isNumber: true },
          {
            header: t('orders.warnings'),
            cell: ({ previewed }) =>
              'error' in previewed ? (
                <span className="field-error">{reasonOf(previewed.error)}</span>
              ) : (
                <ul className="plain">
                  {previewed.warnings.map(({ pointer, code, detail }) => (
                    <li key={pointer + code}>
                      <TriangleAlert aria-hidden="true" size={14} /> <strong>{fieldLabel(t, pointer)}</strong>{' '}
                      {warningText({ t, i18n }, { code, detail })}
                    </li>
                  ))}
                </ul>
              ),
          },
        ]}
      />
    </>
  );
}
