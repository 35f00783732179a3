import { useQueryClient } from '@tanstack/react-query';
import { AlarmClock, MessageSquareText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { OrderDetail } from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Actor } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { Quote } from '../../../components/card.tsx';
import { Field } from '../../../components/field.tsx';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { formatMinutes } from '../../../components/numbers.ts';
import { shortTime, timeOfDay, useNow } from '../../../components/time.tsx';
import { useAction } from '../../../components/use-action.ts';
import { MessageCustomer } from '../message/message-customer.tsx';
import { isOver, snoozeText } from './snooze-text.ts';

const TOMORROW = 'tomorrow';
const CHOICES = [10, 30, 60, TOMORROW] as const;
type Choice = (typeof CHOICES)[number];

const MINUTE_MS = 60_000;
/** The API's limit. */
const MAX_REASON = 200;

/** Nine in the morning of the next day, in the time zone in which the page shows times. */
function tomorrowMorning(): number {
  const morning = new Date();
  morning.setDate(morning.getDate() + 1);
  return morning.setHours(9, 0, 0, 0);
}

/** The service counts from its own clock. */
function minutesOf(choice: Choice): number {
  return choice === TOMORROW ? Math.ceil((tomorrowMorning() - Date.now()) / MINUTE_MS) : choice;
}

/** Asks for how long an order is snoozed, and why. */
export function SnoozeDialog(props: {
  detail: OrderDetail;
  /** Shows the changed order. */
  accept: (changed: OrderDetail) => Promise<void>;
  /** The order has left the list. */
  onSnoozed: () => void;
  onClose: () => void;
}): ReactNode {
  const { detail, accept, onSnoozed, onClose } = props;
  const { order_id, order_number, snooze } = detail.order;
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const [choice, setChoice] = useState<Choice>(CHOICES[0]);
  const [isWriting, setWriting] = useState(false);
  const [reason, setReason] = useState(snooze?.reason ?? '');
  const action = useAction({
    mutationFn: () => {
      const body = { minutes: minutesOf(choice), reason: reason.trim() };
      return call<OrderDetail>('PUT', `/accounts/${accountId}/orders/${order_id}/snooze`, { body });
    },
    async onSuccess(changed) {
      await accept(changed);
      // The list learns it with the next poll.
      await queryClient.invalidateQueries({ queryKey: ['updates', accountId] });
      const { until = '' } = changed.order.snooze ?? {};
      notices.show({ text: t('snooze.done', { number: order_number, time: until && shortTime(until) }) });
      onClose();
      onSnoozed();
    },
  });
  return (
    <FormDialog
      title={t('snooze.title', { number: order_number })}
      submit={t('snooze.submit')}
      action={action}
      onClose={onClose}
    >
      <p className="hint">{t('snooze.about')}</p>
      <fieldset className="reasons">
        <legend>{t('snooze.for')}</legend>
        {CHOICES.map((value) => (
          <label key={value} className="radio">
            <input type="radio" name="for" checked={choice === value} onChange={() => setChoice(value)} />
            <span>
              {value === TOMORROW ? t('snooze.tomorrow', { time: timeOfDay(tomorrowMorning()) }) : formatMinutes(value)}
            </span>
          </label>
        ))}
      </fieldset>
      <Field label={t('snooze.reason')} dir="auto" maxLength={MAX_REASON} value={reason} onChange={setReason} />
      {isWriting ? (
        <MessageCustomer order={detail.order} />
      ) : (
        <Button kind="quiet" Icon={MessageSquareText} onClick={() => setWriting(true)}>
          {t('message.open')}
        </Button>
      )}
    </FormDialog>
  );
}

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
            : <Quote text={snooze.reason} />
          </>
        )}
      </p>
      {can('review') && !isOver(snooze, now) && <Button onClick={() => end.mutate()}>{t('snooze.end')}</Button>}
      {end.isError && <ProblemNote error={end.error} />}
    </div>
  );
}
