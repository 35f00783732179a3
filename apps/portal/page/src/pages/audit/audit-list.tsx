import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { AuditEvent, AuditPage } from '../../api/operator.ts';
import { Actor } from '../../components/actor.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Field } from '../../components/field.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { fullTime } from '../../components/time.tsx';
import { useDebounced } from '../../components/use-debounced.ts';
import { EventDetails } from './event-details.tsx';
import { EventSubject } from './event-subject.tsx';
import '../../components/data-table.css';
import './audit.css';

/** The audit events from the API at `path`, newest first. `filter` is a second field beside the search. */
export function AuditList({
  path,
  accountId,
  searchHint,
  filter,
}: {
  path: string;
  accountId?: string;
  searchHint: string;
  filter?: ReactNode;
}): ReactNode {
  const { t } = useTranslation('audit');
  const [text, setText] = useState('');
  const searched = useDebounced(text.trim());
  const audit = useInfiniteQuery({
    queryKey: ['audit', path, accountId ?? '', searched],
    queryFn: ({ pageParam, signal }) =>
      call<AuditPage>('GET', path, { query: { account_id: accountId, q: searched, before: pageParam }, signal }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });
  const events = audit.data?.pages.flatMap((page) => page.events) ?? [];
  const isFiltered = searched !== '' || Boolean(accountId);
  return (
    <>
      <div className="audit-filters">
        <Field
          label={t('search')}
          hint={searchHint}
          type="search"
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {filter}
      </div>
      {audit.isError && <ProblemNote error={audit.error} retry={() => void audit.refetch()} />}
      {audit.isPending && <Skeleton shape="rows" count={8} />}
      {audit.isSuccess && events.length === 0 && (
        <EmptyState
          title={t(isFiltered ? 'noneFound' : 'none')}
          text={t(isFiltered ? 'noneFoundAbout' : 'noneAbout')}
        />
      )}
      {events.length > 0 && <AuditTable events={events} withAccount={accountId !== undefined} />}
      {audit.hasNextPage && (
        <button
          type="button"
          className="button more-button"
          disabled={audit.isFetchingNextPage}
          onClick={() => void audit.fetchNextPage()}
        >
          {t('common:action.more')}
        </button>
      )}
    </>
  );
}

function AuditTable({ events, withAccount }: { events: AuditEvent[]; withAccount: boolean }): ReactNode {
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
