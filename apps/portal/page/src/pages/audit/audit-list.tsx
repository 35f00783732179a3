import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { AuditPage } from '../../api/operator.ts';
import { Field } from '../../components/field.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { AuditTable } from './audit-table.tsx';

/** The audit events from the API at `path`, newest first. */
export function AuditList({ path, accountId }: { path: string; accountId?: string }): ReactNode {
  const { t } = useTranslation('audit');
  const [text, setText] = useState('');
  const searched = useDeferredValue(text.trim());
  const audit = useInfiniteQuery({
    queryKey: ['audit', path, accountId ?? '', searched],
    queryFn: ({ pageParam, signal }) =>
      call<AuditPage>('GET', path, { query: { account_id: accountId, q: searched, before: pageParam }, signal }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });
  const events = audit.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <div className="narrow-search">
        <Field
          label={t('search')}
          hint={t('searchHint')}
          type="search"
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {audit.isError && <ProblemNote error={audit.error} retry={() => void audit.refetch()} />}
      {audit.isSuccess && events.length === 0 && <p className="hint">{t('none')}</p>}
      {events.length > 0 && <AuditTable events={events} withAccount={accountId !== undefined} />}
      {audit.hasNextPage && (
        <button type="button" className="button" onClick={() => void audit.fetchNextPage()}>
          {t('common:action.more')}
        </button>
      )}
    </>
  );
}
