import { Check } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { CancellationRequests as Requests } from '../../../api/review-list.ts';
import { Button } from '../../../components/button.tsx';
import { Dotted } from '../../../components/card.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { formatPhone, phoneAddress } from '../../../components/order-values.ts';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago } from '../../../components/time.tsx';
import { nameOfOrder } from '../name-of-order.ts';
import { DoneButton } from '../order/cancellation-panel.tsx';
import '../order/cancellation.css';

type Request = Requests['orders'][number];

/** Open ones that are shown at first, so that the list below stays in sight. */
const MAX_AT_FIRST = 3;

/** The open requests to cancel orders that were dispatched, above the list; announced when they come. */
export function CancellationRequests(props: {
  /** Undefined while they are loaded. */
  requests: Requests | undefined;
  addressOf: (orderId: number) => string;
}): ReactNode {
  const { requests, addressOf } = props;
  const { t } = useTranslation('review');
  const titleId = useId();
  const { count, capped, shown, openIds } = useKeptInPlace(requests);
  const beyond = count - openIds.size;
  const [isWhole, setWhole] = useState(false);
  const first = untilOpen(shown, openIds);
  return (
    <>
      <p className="visually-hidden" role="status">
        {count > 0 && t('cancellation.about', { count, formatted: formatCount(count, capped) })}
      </p>
      {count > 0 && (
        <section className="cancellation-requests" tabIndex={-1} aria-labelledby={titleId}>
          <div className="spread">
            <h2 id={titleId}>{t('cancellation.title')}</h2>
            <HelpLink page="cancelled-orders" anchor="requests" />
          </div>
          <p>{t('cancellation.about', { count, formatted: formatCount(count, capped) })}</p>
          <ul className="plain">
            {(isWhole ? shown : first).map((request) => (
              <RequestRow
                key={request.order_id}
                request={request}
                href={addressOf(request.order_id)}
                isOpen={openIds.has(request.order_id)}
              />
            ))}
          </ul>
          {shown.length > first.length && (
            <Button kind="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
              {isWhole ? t('cancellation.fewer') : t('cancellation.all', { formatted: formatCount(shown.length) })}
            </Button>
          )}
          {isWhole && beyond > 0 && (
            <p className="hint">{t('cancellation.more', { count: beyond, formatted: formatCount(beyond, capped) })}</p>
          )}
        </section>
      )}
    </>
  );
}

/** The first open requests, with the closed ones between them. */
function untilOpen(requests: Request[], openIds: ReadonlySet<number>): Request[] {
  const open = requests.filter(({ order_id }) => openIds.has(order_id));
  const next = open[MAX_AT_FIRST];
  return next ? requests.slice(0, requests.indexOf(next)) : requests;
}

/** Keeps requests that were closed in their place until none is open: no other button may move under a pointer that was meant for theirs. */
function useKeptInPlace(requests: Requests | undefined) {
  const [kept, setKept] = useState({ count: 0, capped: false, shown: [] as Request[], openIds: new Set<number>() });
  const [seen, setSeen] = useState<Requests>();
  if (requests && requests !== seen) {
    const { count, capped, orders } = requests;
    const known = new Set(kept.shown.map(({ order_id }) => order_id));
    const added = orders.filter(({ order_id }) => !known.has(order_id));
    const openIds = new Set(orders.map(({ order_id }) => order_id));
    setSeen(requests);
    setKept({ count, capped, openIds, shown: count === 0 ? [] : [...kept.shown, ...added] });
  }
  return kept;
}

function RequestRow(props: { request: Request; href: string; isOpen: boolean }): ReactNode {
  const { request, href, isOpen } = props;
  const { order_id, order_number, customer_name, customer_phone, requested_at, reason, ordered_again_at } = request;
  const { t } = useTranslation('review');
  const name = nameOfOrder({ order_number, customer: { name: customer_name } });
  return (
    <li>
      <span>
        <Dotted>
          <Link href={href}>
            <bdi dir="auto">{order_number}</bdi>
          </Link>
          {customer_name !== null && <bdi>{customer_name}</bdi>}
          {customer_phone !== null && (
            <a href={phoneAddress(customer_phone)}>
              <bdi dir="ltr">{formatPhone(customer_phone)}</bdi>
            </a>
          )}
          <Ago at={requested_at} />
          {ordered_again_at !== null && <strong>{t('cancellation.orderedAgainListed')}</strong>}
        </Dotted>
        {reason !== null && <q dir="auto">{reason}</q>}
      </span>
      {isOpen ? (
        <DoneButton orderId={order_id} number={order_number} name={name} />
      ) : (
        <span className="hint cancellation-done">
          <Check aria-hidden="true" size={16} />
          {t('cancellation.done')}
        </span>
      )}
    </li>
  );
}
