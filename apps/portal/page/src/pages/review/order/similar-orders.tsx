import { CopyCheck } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import type { SimilarOrder } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import { HelpLink } from '../../../components/help-link.tsx';
import { formatAmount } from '../../../components/order-values.ts';
import { Ago } from '../../../components/time.tsx';

/** Likely duplicates: the same phone, a similar total, within a day. */
export function SimilarOrders({ similar }: { similar: SimilarOrder[] }): ReactNode {
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const search = useSearch();
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
        {similar.map(({ order_id, order_number, customer_name, total, currency, review_state, received_at }) => (
          <li key={order_id}>
            <Link href={`/accounts/${accountId}/review/${order_id}${search && `?${search}`}`}>
              <bdi dir="auto">{order_number}</bdi>
            </Link>
            {customer_name !== null && (
              <>
                {' · '}
                <bdi>{customer_name}</bdi>
              </>
            )}
            {total !== null && (
              <>
                {' · '}
                <bdi dir="ltr">
                  {formatAmount(total)} {currency}
                </bdi>
              </>
            )}
            {' · '}
            <Ago at={received_at} />
            {' · '}
            {t(`similar.${review_state}`)}
          </li>
        ))}
      </ul>
    </section>
  );
}
