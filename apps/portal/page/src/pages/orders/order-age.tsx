import { AlarmClock, Clock } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListedOrder } from '../../api/review.ts';
import { formatMinutes } from '../../components/numbers.ts';
import { Mark } from '../../components/state-badge.tsx';
import { Ago, useNow } from '../../components/time.tsx';

const MINUTE = 60_000;

/** How long ago an order was received. While it needs review, a badge says that half of the account's target has passed, or all of it. */
export function OrderAge(props: {
  order: Pick<ListedOrder, 'received_at' | 'review_state'>;
  /** In minutes; null for no target, undefined until it is known. */
  target: number | null | undefined;
}): ReactNode {
  const { received_at, review_state } = props.order;
  const { t } = useTranslation('review');
  const age = useNow() - Date.parse(received_at);
  const target = review_state === 'needs_review' ? props.target : null;
  const isMarked = target && age > (target * MINUTE) / 2;
  if (!isMarked) return <Ago at={received_at} />;
  const isOver = age > target * MINUTE;
  const text = t(isOver ? 'list.target.over' : 'list.target.half', { target: formatMinutes(target) });
  return (
    <Mark text={text} kind={isOver ? 'bad' : 'warn'} Icon={isOver ? AlarmClock : Clock}>
      <Ago at={received_at} />
    </Mark>
  );
}
