import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ReceiptDetail } from '../../api/receipts.ts';
import { useAccountId } from '../../api/session.ts';
import { Mono } from '../../components/card.tsx';
import { formatDuration } from '../../components/numbers.ts';
import { exactTime } from '../../components/time.tsx';

type ReceiptEvent = ReceiptDetail['events'][number];

const KINDS: Partial<Record<ReceiptEvent['kind'], string>> = {
  written: 'is-good',
  attempt_failed: 'is-warn',
  lease_lapsed: 'is-warn',
  kept: 'is-warn',
  dead: 'is-bad',
};

/** A receipt's events, oldest first, each with the time since the one before. */
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

/** A receipt that was kept or could not be mapped died without an attempt. */
function nameOf(event: ReceiptEvent, before: ReceiptEvent | undefined) {
  return event.kind === 'dead' && (before?.kind === 'kept' || before?.kind === 'received')
    ? 'deadUnprocessed'
    : event.kind;
}

function Step({ event, before }: { event: ReceiptEvent; before: ReceiptEvent | undefined }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const took = before ? new Date(event.at).getTime() - new Date(before.at).getTime() : null;
  return (
    <>
      <p className="spread">
        <strong>{t(`event.${nameOf(event, before)}`, { attempt: event.attempt })}</strong>
        <span className="hint">
          <time dateTime={event.at}>{exactTime(event.at)}</time>
          {took !== null && took > 0 && (
            <>
              {' '}
              <bdi>+{formatDuration(took)}</bdi>
            </>
          )}
        </span>
      </p>
      {event.kept_from && (
        <p className="hint">
          {t('event.keptFrom')}{' '}
          <Link href={`/accounts/${accountId}/receipts/${event.kept_from}`}>
            <Mono>{event.kept_from}</Mono>
          </Link>
        </p>
      )}
      {event.code && (
        <p className="hint">
          {t(`error.${event.code}.name`, { defaultValue: event.detail ?? '' })}{' '}
          <Mono>{[event.code, event.sqlstate, event.constraint].filter(Boolean).join(' · ')}</Mono>
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
