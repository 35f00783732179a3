import { RotateCcw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ListedReceipt, useReceiptSearch, useReceipts } from '../../api/receipts.ts';
import { useAccountId } from '../../api/session.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { fullTime } from '../../components/time.tsx';
import { DeadFilter } from './dead-filter.tsx';
import { useFilters } from './filters.ts';
import { ReceiptRows } from './receipt-rows.tsx';
import { RedriveDialog } from './redrive-dialog.tsx';
import { SearchBox } from './search-box.tsx';

/** An account's receipts: the newest, filtered by state, or search results. */
export function ReceiptList(): ReactNode {
  const { t } = useTranslation('receipts');
  const { filters, change } = useFilters();
  return (
    <div className="stack">
      <h1>{t('title')}</h1>
      <SearchBox filters={filters} change={change} />
      {filters.q === '' ? <Newest /> : <Found q={filters.q} />}
    </div>
  );
}

function Newest(): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const { filters, change, deadQuery } = useFilters();
  const [isRedriving, setRedriving] = useState(false);
  const isDead = filters.state === 'dead';
  const query = useReceipts(accountId, { state: filters.state, ...deadQuery });
  const receipts: ListedReceipt[] = query.data?.pages.flatMap((page) => page.receipts) ?? [];
  return (
    <>
      {isDead && (
        <section className="card stack-tight" aria-label={t('dead.filter')}>
          <DeadFilter filters={filters} change={change} />
          <div className="row">
            <button
              type="button"
              className="button"
              disabled={receipts.length === 0}
              onClick={() => setRedriving(true)}
            >
              <RotateCcw aria-hidden="true" size={16} />
              {t('redrive.all')}
            </button>
            <span className="hint">{t('redrive.allHint')}</span>
          </div>
        </section>
      )}
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <p className="hint">{t('common:state.loading')}</p>}
      {query.isSuccess && receipts.length === 0 && (
        <p className="note">{query.hasNextPage ? t('noneSoFar') : t(isDead ? 'noneDead' : 'none')}</p>
      )}
      <ReceiptRows receipts={receipts} />
      {query.hasNextPage && (
        <button
          type="button"
          className="button receipts-more"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('common:action.more')}
        </button>
      )}
      {isRedriving && (
        <RedriveDialog
          path={`/accounts/${accountId}/dead-letters`}
          body={deadQuery}
          onClose={() => setRedriving(false)}
        />
      )}
    </>
  );
}

function Found({ q }: { q: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const query = useReceiptSearch(useAccountId(), q);
  if (query.isPending) return <p className="hint">{t('common:state.loading')}</p>;
  if (query.isError) return <ProblemNote error={query.error} retry={() => void query.refetch()} />;
  const { receipts, newest_since, followed_until } = query.data;
  return (
    <>
      <p role="status">{t('search.found', { count: receipts.length })}</p>
      <ReceiptRows receipts={receipts} />
      {newest_since !== null && (
        <p className="hint">
          {followed_until === null
            ? t('search.since', { since: fullTime(newest_since) })
            : t('search.sinceAndUntil', { since: fullTime(newest_since), until: fullTime(followed_until) })}
        </p>
      )}
    </>
  );
}
