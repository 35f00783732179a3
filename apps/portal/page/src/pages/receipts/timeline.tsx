import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReceiptEvent } from '../../api/receipts.ts';
import { locale } from '../../text/index.ts';

const KINDS: Partial<Record<ReceiptEvent['kind'], string>> = {
  written: 'is-good',
  attempt_failed: 'is-warn',
  lease_lapsed: 'is-warn',
  dead: 'is-bad',
};

/** The way of a receipt, oldest first, each step with what it took since the one before. */
export function Timeline({ events }: { events: ReceiptEvent[] }): ReactNode {
  return (
    <ol className="plain timeline">
      {events.map((event, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps are only ever added, at the end.
        <li key={index} className={KINDS[event.kind]}>
          <Step event={event} before={events[index - 1]} />
        </li>
      ))}
    </ol>
  );
}

function Step({ event, before }: { event: ReceiptEvent; before: ReceiptEvent | undefined }): ReactNode {
  const { t } = useTranslation('receipts');
  const took = before ? new Date(event.at).getTime() - new Date(before.at).getTime() : null;
  const time = new Intl.DateTimeFormat(locale(), {
    ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    fractionalSecondDigits: 3,
  });
  return (
    <>
      <p className="spread">
        <strong>{t(`event.${event.kind}`, { attempt: event.attempt })}</strong>
        <span className="hint">
          <time dateTime={event.at}>{time.format(new Date(event.at))}</time>
          {took !== null && took > 0 && (
            <>
              {' '}
              <bdi dir="ltr">+{formatDuration(took)}</bdi>
            </>
          )}
        </span>
      </p>
      {event.code && (
        <p className="hint">
          {t(`error.${event.code}.name`, { defaultValue: event.detail ?? '' })}{' '}
          <bdi dir="ltr" className="mono">
            {[event.code, event.sqlstate, event.constraint].filter(Boolean).join(' · ')}
          </bdi>
        </p>
      )}
      {event.actor && (
        <p className="hint">
          <bdi dir="ltr">{event.actor}</bdi>
        </p>
      )}
    </>
  );
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** Milliseconds in the largest unit they fill, such as `1.5 s`. */
function formatDuration(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => milliseconds >= size) ?? ['ms', 1];
  return `${Number((milliseconds / size).toPrecision(3))} ${unit}`;
}
