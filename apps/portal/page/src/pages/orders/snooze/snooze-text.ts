import type { TFunction } from 'i18next';
import type { ListedOrder } from '../../../api/review.ts';
import { shortTime } from '../../../components/time.tsx';

type Snooze = NonNullable<ListedOrder['snooze']>;

/** Whether the order is back, at the time `now`. */
export const isOver = ({ until }: Snooze, now: number): boolean => Date.parse(until) <= now;

/** That an order is snoozed, or that it is back. `t` must know the namespace `review`. */
export function snoozeText(t: TFunction, snooze: Snooze, now: number): string {
  return isOver(snooze, now) ? t('review:snooze.back') : t('review:snooze.until', { time: shortTime(snooze.until) });
}
