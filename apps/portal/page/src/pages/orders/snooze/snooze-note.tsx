import { AlarmClock } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { OrderDetail } from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Actor } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { useNow } from '../../../components/time.tsx';
import { useAction } from '../../../components/use-action.ts';
import { isOver, snoozeText } from './snooze-text.ts';

/** That the order is snoozed until a time, by whom and why, or that it is back. */
export function SnoozeNote(props: {
  order: OrderDetail['order'];
  /** Shows the changed order. */
  accept: (changed: OrderDetail) => Promise<void>;
}): ReactNode {
  const { order, accept } = props;
  const { snooze, order_id } = order;
  const { t } = useTranslation('review');
  const can = useCan();
  const accountId = useAccountId();
  const now = useNow();
  const end = useAction({
    mutationFn: () => call<OrderDetail>('DELETE', `/accounts/${accountId}/orders/${order_id}/snooze`),
    onSuccess: accept,
  });
  if (!snooze) return null;
  return (
    <div className="note">
      <p>
        <AlarmClock aria-hidden="true" size={14} /> {snoozeText(t, snooze, now)} · <Actor actor={snooze.by} />
        {snooze.reason !== null && (
          <>
            : <q dir="auto">{snooze.reason}</q>
          </>
        )}
      </p>
      {can('review') && !isOver(snooze, now) && <Button onClick={() => end.mutate()}>{t('snooze.end')}</Button>}
      {end.isError && <ProblemNote error={end.error} />}
    </div>
  );
}
