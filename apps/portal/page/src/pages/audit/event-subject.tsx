import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { AuditEvent } from '../../api/operator.ts';

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
          <Link href={`${base}/review/${id}`}>{t('about.order', { name })}</Link>
          {about?.detail && (
            <>
              {' '}
              <bdi className="hint">{about.detail}</bdi>
            </>
          )}
        </>
      );
    case 'receipt':
      return <Link href={`${base}/receipts/${id}`}>{t('about.receipt', { name })}</Link>;
    case 'key':
      return (
        <Link href={`${base}/integrations`}>
          <bdi>{name}</bdi>
          {about?.detail && (
            <>
              {' '}
              <bdi dir="ltr" className="mono">
                …{about.detail}
              </bdi>
            </>
          )}
        </Link>
      );
    case 'source':
      return (
        <Link href={`${base}/integrations?tab=sources`}>
          <bdi>{name}</bdi>
        </Link>
      );
    case 'endpoint': {
      // A removed endpoint is known by the details of the event only.
      const { url } = { ...details } as { url?: unknown };
      return (
        <Link href={`${base}/integrations?tab=events`}>
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
