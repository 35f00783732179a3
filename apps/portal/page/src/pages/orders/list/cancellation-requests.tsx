import { Check } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { CancellationRequests as Requests } from '../../../api/review-list.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Button } from '../../../components/button.tsx';
import { Dotted, Quote } from '../../../components/card.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { formatPhone, phoneAddress } from '../../../components/order-values.ts';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClosing } from '../decide/use-closing.ts';
import { nameOfOrder } from '../name-of-order.ts';
import { DoneButton } from '../order/cancellation-panel.tsx';
import '../order/cancellation.css';

type Request = Requests['orders'][number];

/** Open ones that are shown at first, so that the list below stays in sight. */
const MAX_AT_FIRST = 3;

const nameOf = ({ order_number, customer_name }: Request) =>
  nameOfOrder({ order_number, customer: { name: customer_name } });

/** The open requests to cancel orders that were dispatched, above the list, to be marked as done one by one or several at once; announced when they come. */
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
  const mayClose = useCan()('review');
  const { isClosing } = useClosing(useAccountId());
  const choosable = shown.filter(({ order_id }) => openIds.has(order_id) && !isClosing(order_id));
  const [selected, select] = useState<ReadonlySet<number>>(new Set());
  const chosen = choosable.filter(({ order_id }) => selected.has(order_id));
  const chooseAll = (isChosen: boolean) => {
    select(new Set(isChosen ? choosable.map(({ order_id }) => order_id) : []));
    // What is chosen is shown.
    if (isChosen) setWhole(true);
  };
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
          {mayClose && shown.length > 1 && (
            <div className="spread cancellation-chosen">
              <SelectAll count={choosable.length} chosen={chosen.length} onChange={chooseAll} />
              {chosen.length > 0 && (
                <DoneButton
                  names={new Map(chosen.map((request) => [request.order_id, nameOf(request)]))}
                  onClick={() => chooseAll(false)}
                >
                  {t('cancellation.doneChosen', { formatted: formatCount(chosen.length) })}
                </DoneButton>
              )}
            </div>
          )}
          <ul className="plain">
            {(isWhole ? shown : first).map((request) => (
              <RequestRow
                key={request.order_id}
                request={request}
                href={addressOf(request.order_id)}
                isOpen={openIds.has(request.order_id)}
                choice={
                  mayClose &&
                  shown.length > 1 && {
                    isChosen: chosen.includes(request),
                    isDisabled: !choosable.includes(request),
                    toggle: () => {
                      const others = [...selected].filter((id) => id !== request.order_id);
                      select(new Set(chosen.includes(request) ? others : [...others, request.order_id]));
                    },
                  }
                }
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

/** Chooses all requests that are listed, or none. */
function SelectAll(props: { count: number; chosen: number; onChange: (isChosen: boolean) => void }): ReactNode {
  const { count, chosen, onChange } = props;
  const { t } = useTranslation('review');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current) input.current.indeterminate = chosen > 0 && chosen < count;
  }, [chosen, count]);
  return (
    <label className="row">
      <input
        ref={input}
        type="checkbox"
        checked={chosen > 0 && chosen === count}
        disabled={count === 0}
        onChange={() => onChange(chosen < count)}
      />
      {t('cancellation.selectAll', { formatted: formatCount(count) })}
    </label>
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

function RequestRow(props: {
  request: Request;
  href: string;
  isOpen: boolean;
  choice: { isChosen: boolean; isDisabled: boolean; toggle: () => void } | false;
}): ReactNode {
  const { request, href, isOpen, choice } = props;
  const { order_id, order_number, customer_name, customer_phone, requested_at, reason, ordered_again_at } = request;
  const { t } = useTranslation('review');
  const mayClose = useCan()('review');
  return (
    <li>
      {choice && (
        <label className="order-check">
          <input
            type="checkbox"
            aria-label={t('cancellation.select', { number: order_number })}
            checked={choice.isChosen}
            disabled={choice.isDisabled}
            onChange={choice.toggle}
          />
        </label>
      )}
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
        {reason !== null && <Quote text={reason} />}
      </span>
      {isOpen && mayClose && (
        <DoneButton
          names={new Map([[order_id, nameOf(request)]])}
          label={t('cancellation.doneNamed', { number: order_number })}
        >
          {t('cancellation.done')}
        </DoneButton>
      )}
      {!isOpen && (
        <span className="hint cancellation-done">
          <Check aria-hidden="true" size={16} />
          {t('cancellation.done')}
        </span>
      )}
    </li>
  );
}
