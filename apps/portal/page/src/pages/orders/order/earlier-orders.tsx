import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import type { EarlierOrders as Earlier } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import { Dotted } from '../../../components/card.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { formatAmount } from '../../../components/order-values.ts';
import { Day } from '../../../components/time.tsx';

/** The customer's earlier orders: a line, which opens a table of the newest ones. */
export function EarlierOrders({ earlier }: { earlier: Earlier | null }): ReactNode {
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const search = useSearch();
  const [last] = earlier?.newest ?? [];
  if (!earlier || !last) return null;
  const { count, is_more, rejected, newest } = earlier;
  return (
    <details className="order-box earlier">
      <summary>
        <Dotted>
          <strong>{t('earlier.title', { count, formatted: formatCount(count, is_more) })}</strong>
          <span>
            {t('earlier.last')} <Day at={last.received_at} />
            <Amount order={last} before=", " />
          </span>
          {rejected > 0 && (
            <span className="earlier-rejected">
              {t('earlier.rejected', { formatted: formatCount(rejected, is_more) })}
            </span>
          )}
        </Dotted>
      </summary>
      <DataTable
        label={t('earlier.label')}
        rows={newest}
        keyOf={({ order_id }) => order_id}
        columns={[
          {
            header: t('column.number'),
            cell: ({ order_id, order_number }) => (
              <Link href={`/accounts/${accountId}/orders/${order_id}${search && `?${search}`}`}>
                <bdi dir="auto">{order_number}</bdi>
              </Link>
            ),
          },
          { header: t('column.age'), cell: ({ received_at }) => <Day at={received_at} /> },
          { header: t('column.total'), cell: (order) => <Amount order={order} /> },
          {
            header: t('earlier.state'),
            cell: ({ review_state, reason }) => (
              <>
                {t(`common:nav.state.${review_state}`)}
                {reason !== null && (
                  <>
                    : <q dir="auto">{reason}</q>
                  </>
                )}
              </>
            ),
          },
        ]}
      />
    </details>
  );
}

function Amount({ order: { total, currency }, before }: { order: Earlier['newest'][number]; before?: string }) {
  if (total === null) return before ? null : '–';
  return (
    <>
      {before}
      <bdi dir="ltr">
        {formatAmount(total)} {currency}
      </bdi>
    </>
  );
}
