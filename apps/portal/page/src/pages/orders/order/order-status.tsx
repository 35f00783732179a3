import { UNDECIDED } from '@orders/domain/receipt-states.ts';
import { CopyCheck, Eye } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearch } from 'wouter';
import { isProblem } from '../../../api/client.ts';
import type { OrderDetail, SimilarOrder } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import { Actor, joinNames, keyNameOf } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { Dotted } from '../../../components/card.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { formatAmount } from '../../../components/order-values.ts';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago, fullTime } from '../../../components/time.tsx';

/** Who decided the order and when, or which key cancelled it; announced when it happens while the order is open. */
export function ReviewNote(props: {
  review: OrderDetail['review'] | undefined;
  receivedAt: string | undefined;
}): ReactNode {
  const { review, receivedAt } = props;
  const { t } = useTranslation('review');
  if (!review || UNDECIDED.includes(review.state) || review.by === null || review.at === null)
    return <div role="status" />;
  const isCancelled = review.state === 'cancelled';
  const keyName = keyNameOf(review.by);
  const isEarly = isCancelled && receivedAt !== undefined && Date.parse(review.at) < Date.parse(receivedAt);
  return (
    <div role="status">
      <p className="note">
        <span>
          {isCancelled && keyName !== null ? (
            t('order.cancelled', { name: keyName })
          ) : (
            <>
              {t(isCancelled ? 'order.cancelledBy' : `order.${review.state}`)} <Actor actor={review.by} />
            </>
          )}
          , <Ago at={review.at} />
          {review.reason !== null && (
            <>
              : <q dir="auto">{review.reason}</q>
            </>
          )}
        </span>
        {isEarly && <span className="hint">{t('order.cancelledFirst')}</span>}
      </p>
    </div>
  );
}

/** The other reviewers who have the order open; announced when one of them comes. */
export function OrderViewers({ names }: { names: readonly string[] }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <div role="status">
      {names.length > 0 && (
        <p className="hint row order-viewers">
          <Eye aria-hidden="true" size={14} />
          <span>{t('order.viewers', { names: joinNames(names) })}</span>
        </p>
      )}
    </div>
  );
}

/** Why the order is missing or, while an older version is shown, since when it is not updated. */
export function LoadProblem(props: { error: unknown; updatedAt: number | null; retry: () => void }): ReactNode {
  const { error, updatedAt, retry } = props;
  const { t } = useTranslation('review');
  if (updatedAt === null) {
    if (isProblem(error, 'order_not_found')) return <p className="note">{t('common:problem.order_not_found')}</p>;
    return <ProblemNote error={error} retry={retry} />;
  }
  return (
    <div className="note note-warn" role="status">
      <p>{t('list.stale', { time: fullTime(new Date(updatedAt).toISOString()) })}</p>
      <Button onClick={retry}>{t('common:action.retry')}</Button>
    </div>
  );
}

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
            <Dotted>
              <Link href={`/accounts/${accountId}/orders/${order_id}${search && `?${search}`}`}>
                <bdi dir="auto">{order_number}</bdi>
              </Link>
              {customer_name !== null && <bdi>{customer_name}</bdi>}
              {total !== null && (
                <bdi dir="ltr">
                  {formatAmount(total)} {currency}
                </bdi>
              )}
              <Ago at={received_at} />
              {t(`common:nav.state.${review_state}`)}
            </Dotted>
          </li>
        ))}
      </ul>
    </section>
  );
}
