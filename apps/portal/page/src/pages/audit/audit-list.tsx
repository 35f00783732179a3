import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { AuditPage } from '../../api/operator.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Field } from '../../components/field.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useDebounced } from '../../components/use-debounced.ts';
import { AuditTable } from './audit-table.tsx';

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
