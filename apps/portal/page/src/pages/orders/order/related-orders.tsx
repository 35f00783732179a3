import { CopyCheck } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import type { OrderDetail, SimilarOrder } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import { Dotted, Quote } from '../../../components/card.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { formatAmount } from '../../../components/order-values.ts';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago, Day } from '../../../components/time.tsx';

/** Likely duplicates: the same phone, a similar total, within a day. */
export function SimilarOrders({ similar }: { similar: SimilarOrder[] }): ReactNode {
  const { t } = useTranslation('review');
  const titleId = useId();
  if (similar.length === 0) return null;
  return (
    <section className="order-box similar" aria-labelledby={titleId}>
      <h3 id={titleId}>
        <CopyCheck aria-hidden="true" size={16} />
        {t('similar.title')}
      </h3>
      <p className="hint">
        {t('similar.why')}
        <HelpLink page="duplicates" anchor="compare" />
      </p>
      <ul className="plain">
        {similar.map((order) => (
          <li key={order.order_id}>
            <Dotted>
              <OrderLink order={order} />
              {order.customer_name !== null && <bdi>{order.customer_name}</bdi>}
              {order.total !== null && <Amount total={order.total} currency={order.currency} />}
              <Ago at={order.received_at} />
              {t(`common:nav.state.${order.review_state}`)}
            </Dotted>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The customer's earlier orders: a line, which opens the newest of them. */
export function EarlierOrders({ earlier }: { earlier: OrderDetail['earlier'] }): ReactNode {
  const { t } = useTranslation('review');
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
          </span>
          {last.total !== null && <Amount total={last.total} currency={last.currency} />}
          {rejected > 0 && (
            <span className="earlier-rejected">
              {t('earlier.rejected', { formatted: formatCount(rejected, is_more) })}
            </span>
          )}
        </Dotted>
      </summary>
      <ul className="plain" aria-label={t('earlier.label')}>
        {newest.map((order) => (
          <li key={order.order_id}>
            <Dotted>
              <OrderLink order={order} />
              <Day at={order.received_at} />
              {order.total !== null && <Amount total={order.total} currency={order.currency} />}
              <span className={order.review_state === 'rejected' ? 'earlier-rejected' : undefined}>
                {t(`common:nav.state.${order.review_state}`)}
              </span>
              {order.reason !== null && <Quote text={order.reason} />}
            </Dotted>
          </li>
        ))}
      </ul>
    </details>
  );
}

function OrderLink({ order }: { order: Pick<SimilarOrder, 'order_id' | 'order_number'> }): ReactNode {
  const accountId = useAccountId();
  const search = useSearch();
  return (
    <Link href={`/accounts/${accountId}/orders/${order.order_id}${search && `?${search}`}`}>
      <bdi dir="auto">{order.order_number}</bdi>
    </Link>
  );
}

function Amount({ total, currency }: { total: string; currency: string | null }): ReactNode {
  return (
    <bdi dir="ltr">
      {formatAmount(total)} {currency}
    </bdi>
  );
}
