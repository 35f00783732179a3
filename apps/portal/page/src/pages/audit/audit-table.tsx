import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEvent } from '../../api/operator.ts';
import { Actor } from '../../components/actor.tsx';
import { fullTime } from '../../components/time.tsx';
import { EventDetails } from './event-details.tsx';
import { EventSubject } from './event-subject.tsx';
import '../../components/data-table.css';
import './audit.css';

export function AuditTable({ events, withAccount }: { events: AuditEvent[]; withAccount: boolean }): ReactNode {
  const { t } = useTranslation('audit');
  return (
    <div className="card table-card">
      <table className="data-table audit-table">
        <thead>
          <tr>
            <th scope="col">{t('at')}</th>
            <th scope="col">{t('actor')}</th>
            <th scope="col">{t('what')}</th>
            <th scope="col">{t('subject')}</th>
            {withAccount && <th scope="col">{t('account')}</th>}
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.event_id}>
              <td data-label={t('at')}>
                <time dateTime={event.at}>{fullTime(event.at)}</time>
              </td>
              <td data-label={t('actor')}>
                <Actor actor={event.actor} />
              </td>
              <td data-label={t('what')}>
                <div className="stack-tight audit-what">
                  <ActionName action={event.action} />
                  {event.details && <EventDetails event={event} details={event.details} />}
                </div>
              </td>
              <td data-label={t('subject')}>
                <EventSubject event={event} />
              </td>
              {withAccount && (
                <td data-label={t('account')}>
                  <Account event={event} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The translated action, or its code without a translation. */
function ActionName({ action }: { action: string }): ReactNode {
  const { t, i18n } = useTranslation('audit');
  return i18n.exists(`audit:action.${action}`) ? <span>{t(`action.${action}`)}</span> : <code dir="ltr">{action}</code>;
}

function Account({ event: { account_id, account_name } }: { event: AuditEvent }): ReactNode {
  if (account_id === null) return '–';
  return (
    <>
      {account_name && <bdi>{account_name}</bdi>}{' '}
      <bdi dir="ltr" className="hint">
        #{account_id}
      </bdi>
    </>
  );
}
