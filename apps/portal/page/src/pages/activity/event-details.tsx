import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { AuditEvent } from '../../api/operator.ts';
import { Mono } from '../../components/card.tsx';
import { ChangeList } from '../../components/change-list.tsx';
import { formatCount, formatDuration, formatMinutes } from '../../components/numbers.ts';

type Details = Record<string, unknown>;
type StoredChange = { pointer: string; before: unknown; after: unknown };

/** Shown elsewhere in the row. */
const SHOWN_ELSEWHERE = new Set([
  'source_order_id',
  'name',
  'last_four',
  'new_key_id',
  'changes',
  'changes_omitted',
  'receipt_id',
  'url',
]);

const CHOICES = new Set([
  'factor',
  'second_factor',
  'role',
  'change',
  'rate_limit',
  'resends',
  'review_target_minutes',
  'was',
  'locked',
  'kind',
  'method',
  'refused',
]);

/** The details of an event in words; those without words by their names. */
export function EventDetails({ event, details }: { event: AuditEvent; details: Details }): ReactNode {
  const { t } = useTranslation(['audit', 'integrations']);
  const { changes, changes_omitted, receipt_id } = details;
  const facts = Object.entries(namedFor(event, details)).filter(
    ([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null,
  );
  return (
    <>
      {Array.isArray(changes) && (
        <ChangeList
          changes={(changes as StoredChange[]).map(({ pointer, before, after }) => ({
            pointer,
            from: before,
            to: after,
          }))}
        />
      )}
      {changes_omitted === true && <p className="hint">{t('changesOmitted')}</p>}
      {facts.map(([name, value]) => (
        <p key={name} className="hint">
          {factText(t, name, value)}
        </p>
      ))}
      {typeof receipt_id === 'string' && (
        <Link className="hint" href={`/accounts/${event.account_id}/receipts/${receipt_id}`}>
          {t('detail.receipt_id')}
        </Link>
      )}
    </>
  );
}

/** A change of a role has the old and the new one, which other events name differently. */
function namedFor({ action }: AuditEvent, details: Details): Details {
  return action === 'user_role_changed' ? { role_before: details.from, role: details.to } : details;
}

function factText(t: TFunction<['audit', 'integrations']>, name: string, value: unknown): string {
  const label = t(`detail.${name}`, { defaultValue: name });
  return `${label}: ${valueText(t, name, value)}`;
}

function valueText(t: TFunction<['audit', 'integrations']>, name: string, value: unknown): string {
  if (name === 'overlap_ms' && typeof value === 'number') return formatDuration(value);
  if (name.endsWith('_minutes') && typeof value === 'number') return formatMinutes(value);
  if (name === 'grace' || name === 'overlap') return t(`integrations:grace.${value}`, { defaultValue: String(value) });
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (typeof value === 'number') return formatCount(value);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  if (typeof value !== 'string') return JSON.stringify(value);
  if (name === 'role_before') return valueText(t, 'role', value);
  // Other values are free text, which must not be taken for a key.
  return CHOICES.has(name) ? t(`value.${name}.${value}`, { defaultValue: value }) : value;
}

/** What an event is about: its name, with a link to it. */
export function EventSubject({ event: { subject, account_id, about, details } }: { event: AuditEvent }): ReactNode {
  const { t } = useTranslation('audit');
  const [, kind, id = ''] = /^(\w+):(.*)$/.exec(subject) ?? [];
  const base = `/accounts/${account_id}`;
  const name = about?.name ?? id;
  switch (kind) {
    case 'order':
      return (
        <>
          <Link href={`${base}/orders/${id}`}>{t('about.order', { name })}</Link>{' '}
          {about?.detail && <bdi className="hint">{about.detail}</bdi>}
        </>
      );
    case 'receipt':
      return <Link href={`${base}/receipts/${id}`}>{t('about.receipt', { name })}</Link>;
    case 'key':
      return (
        <Link href={`${base}/developers`}>
          <bdi>{name}</bdi>
          {about?.detail && (
            <>
              {' '}
              <Mono>…{about.detail}</Mono>
            </>
          )}
        </Link>
      );
    case 'source':
      return (
        <Link href={`${base}/shops`}>
          <bdi>{name}</bdi>
        </Link>
      );
    case 'endpoint': {
      // A removed endpoint is known by the details of the event only.
      const { url } = { ...details } as { url?: unknown };
      return (
        <Link href={`${base}/developers?tab=events`}>
          <bdi dir="ltr" className="endpoint-subject">
            {about?.name ?? (typeof url === 'string' ? url : id)}
          </bdi>
        </Link>
      );
    }
    case 'user':
      return (
        <>
          {about && <bdi>{about.name}</bdi>}{' '}
          <bdi dir="ltr" className="hint">
            {id}
          </bdi>
        </>
      );
    case 'account':
      return <bdi>{name}</bdi>;
    case 'email':
      return t('about.email', { hash: id });
    default:
      if (subject === 'secrets' || subject === 'accounts') return t(`about.${subject}`);
      return <bdi dir="ltr">{subject}</bdi>;
  }
}
