import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditPage } from '../../api/operator.ts';
import { fullTime } from '../../components/time.tsx';

type Event = AuditPage['events'][number];

export function AuditTable({ events, withAccount }: { events: Event[]; withAccount: boolean }): ReactNode {
  const { t } = useTranslation('audit');
  return (
    <div className="table-scroll">
      <table className="table wide-table">
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
              <td>
                <time dateTime={event.at}>{fullTime(event.at)}</time>
              </td>
              <td>
                <bdi dir="ltr">{event.actor}</bdi>
              </td>
              <td>
                <ActionName action={event.action} />
                {event.details && <Details details={event.details} />}
              </td>
              <td>
                <bdi dir="ltr">{event.subject}</bdi>
              </td>
              {withAccount && <td>{event.account_id ?? '–'}</td>}
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
  return i18n.exists(`audit:action.${action}`) ? t(`action.${action}`) : <code dir="ltr">{action}</code>;
}

function Details({ details }: { details: Record<string, unknown> }): ReactNode {
  const { t } = useTranslation('audit');
  return (
    <details>
      <summary className="hint">{t('details')}</summary>
      <dl className="facts">
        {Object.entries(details).map(([name, value]) => (
          <div key={name} className="detail">
            <dt>
              <code dir="ltr">{name}</code>
            </dt>
            <dd dir="auto">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
