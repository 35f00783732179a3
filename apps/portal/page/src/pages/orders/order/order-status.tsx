import { UNDECIDED } from '@orders/domain/receipt-states.ts';
import { Eye, type LucideIcon, Printer } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import type { OrderDetail } from '../../../api/review.ts';
import { Actor, joinNames, keyNameOf } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { Quote } from '../../../components/card.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { Ago, fullTime, shortTime } from '../../../components/time.tsx';

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
          {' · '}
          <Ago at={review.at} />
          {review.reason !== null && (
            <>
              : <Quote text={review.reason} />
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
  return <Line Icon={Eye} text={names.length > 0 && t('order.viewers', { names: joinNames(names) })} />;
}

/** That somebody has printed the order, so that nobody prints it for the kitchen again; announced when it happens. */
export function PrintedNote({ print }: { print: OrderDetail['print'] }): ReactNode {
  const { t } = useTranslation('review');
  const text =
    print && t('print.marked', { count: print.count, time: shortTime(print.printed_at), name: print.printed_by });
  return <Line Icon={Printer} text={text} />;
}

function Line({ Icon, text }: { Icon: LucideIcon; text: string | false | null }): ReactNode {
  return (
    <div role="status">
      {text && (
        <p className="hint row order-viewers">
          <Icon aria-hidden="true" size={14} />
          <span>{text}</span>
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
