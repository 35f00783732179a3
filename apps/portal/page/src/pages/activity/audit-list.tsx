import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEvent, AuditPage } from '../../api/operator.ts';
import { usePagedList } from '../../api/queries.ts';
import { Actor } from '../../components/actor.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState, Paged } from '../../components/loaded.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { fullTime, logTime, timeZone } from '../../components/time.tsx';
import { useDebounced } from '../../components/use-debounced.ts';
import { EventDetails, EventSubject } from './event-details.tsx';
import './audit.css';

/** The audit events from the API at `path`, newest first. `filter` is a second field beside the search. */
export function AuditList(props: {
  path: string;
  accountId?: string;
  searchHint: string;
  filter?: ReactNode;
}): ReactNode {
  const { path, accountId, searchHint, filter } = props;
  const { t } = useTranslation('audit');
  const [text, setText] = useState('');
  const searched = useDebounced(text.trim());
  const list = usePagedList({
    queryKey: ['audit', path, accountId ?? '', searched],
    path,
    query: (before) => ({ account_id: accountId, q: searched, before }),
    rowsOf: ({ events }: AuditPage) => events,
    keepsPrevious: true,
  });
  const none = searched !== '' || accountId ? 'noneFound' : 'none';
  return (
    <>
      <div className="audit-filters">
        <SearchField label={t('search')} hint={searchHint} maxLength={255} value={text} onChange={setText} />
        {filter}
      </div>
      <Paged list={list} skeleton={8} empty={<EmptyState title={t(none)} text={t(`${none}About`)} />}>
        {(events) => <AuditTable events={events} withAccount={accountId !== undefined} />}
      </Paged>
    </>
  );
}

function AuditTable({ events, withAccount }: { events: AuditEvent[]; withAccount: boolean }): ReactNode {
  const { t } = useTranslation('audit');
  const account: Column<AuditEvent> = { header: t('account'), cell: (event) => <Account event={event} /> };
  return (
    <div className="card table-card">
      <DataTable
        className="data-table audit-table"
        isPlain
        rows={events}
        keyOf={({ event_id }) => event_id}
        columns={[
          {
            header: t('at', { zone: timeZone() }),
            cell: ({ at }) => (
              <time dateTime={at} title={fullTime(at)}>
                {logTime(at)}
              </time>
            ),
          },
          { header: t('actor'), cell: ({ actor }) => <Actor actor={actor} /> },
          { header: t('what'), cell: (event) => <What event={event} /> },
          { header: t('subject'), cell: (event) => <EventSubject event={event} /> },
          ...(withAccount ? [account] : []),
        ]}
      />
    </div>
  );
}

/** The translated action, or its code without a translation, with its details. */
function What({ event }: { event: AuditEvent }): ReactNode {
  const { t, i18n } = useTranslation('audit');
  const { action, details } = event;
  return (
    <div className="stack-tight audit-what">
      {i18n.exists(`audit:action.${action}`) ? <span>{t(`action.${action}`)}</span> : <code dir="ltr">{action}</code>}
      {details && <EventDetails event={event} details={details} />}
    </div>
  );
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
