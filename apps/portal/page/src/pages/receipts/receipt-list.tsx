import { RotateCcw } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { type ListedReceipt, useDeadCounts, useReceiptSearch, useReceipts } from '../../api/receipts.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Field } from '../../components/field.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { formatCount } from '../../components/numbers.ts';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { fullTime } from '../../components/time.tsx';
import { CauseNote, ReceiptRows } from './receipt-rows.tsx';
import { REDRIVE, RedriveDialog } from './redrive-dialog.tsx';
import { type Filters, SearchBox, useFilters } from './search-box.tsx';

/** An account's receipts: the newest, filtered by state, or search results. */
export function ReceiptList(): ReactNode {
  const { t } = useTranslation('receipts');
  const { filters, change } = useFilters();
  return (
    <div className="stack">
      <PageHeader title={t('title')} about={t('about')}>
        <HelpLink page="receipts" />
      </PageHeader>
      <SearchBox filters={filters} change={change} />
      {filters.q === '' ? <Newest /> : <Found q={filters.q} />}
    </div>
  );
}

function Newest(): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const { filters, change, deadQuery } = useFilters();
  const can = useCan();
  const [isRedriving, setRedriving] = useState(false);
  const isDead = filters.state === 'dead';
  const query = useReceipts(accountId, { state: filters.state, ...deadQuery });
  const receipts: ListedReceipt[] = query.data?.pages.flatMap((page) => page.receipts) ?? [];
  return (
    <>
      {isDead && (
        <section className="card stack" aria-labelledby="dead-title">
          <header className="spread">
            <h2 id="dead-title">{t('dead.filter')}</h2>
            <HelpLink page="failed-receipts" anchor="redrive" />
          </header>
          <p className="hint">{t('dead.about')}</p>
          <DeadFilter filters={filters} change={change} />
          {filters.error_code !== '' && <CauseNote code={filters.error_code} />}
          {can(...REDRIVE) && (
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
          )}
        </section>
      )}
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton shape="rows" count={8} />}
      {query.isSuccess && receipts.length === 0 && <NoReceipts state={filters.state} hasMore={query.hasNextPage} />}
      <ReceiptRows receipts={receipts} />
      {query.hasNextPage && (
        <button
          type="button"
          className="button more-button"
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

function NoReceipts({ state, hasMore }: { state: string; hasMore: boolean }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const can = useCan();
  if (hasMore) return <p className="note">{t('noneSoFar')}</p>;
  if (state === 'dead') return <EmptyState title={t('noneDead')} text={t('noneDeadAbout')} />;
  const tryIt = (
    <Link className="button" href={`/accounts/${accountId}/integrations?tab=try`}>
      {t('noneAction')}
    </Link>
  );
  return <EmptyState title={t('none')} text={t('noneAbout')} action={state === '' && can('develop') && tryIt} />;
}

function Found({ q }: { q: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const query = useReceiptSearch(useAccountId(), q);
  if (query.isPending) return <Skeleton shape="rows" />;
  if (query.isError) return <ProblemNote error={query.error} retry={() => void query.refetch()} />;
  const { receipts, newest_since, followed_until } = query.data;
  return (
    <>
      {receipts.length > 0 ? (
        <p role="status">{t('search.found', { count: receipts.length })}</p>
      ) : (
        <EmptyState title={t('search.none')} text={t('search.noneAbout')} />
      )}
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

/** Filters dead receipts by error, source and time of death. */
function DeadFilter({ filters, change }: { filters: Filters; change: (patch: Partial<Filters>) => void }): ReactNode {
  const { t } = useTranslation('receipts');
  const { data } = useDeadCounts(useAccountId());
  const id = useId();
  const input = (name: 'source_prefix' | 'died_from' | 'died_to') => ({
    label: t(`dead.${name}`),
    value: filters[name],
    onChange: (event: { target: { value: string } }) => change({ [name]: event.target.value }),
  });
  return (
    <div className="dead-filter">
      <div className="field">
        <label htmlFor={id}>{t('dead.error_code')}</label>
        <select id={id} value={filters.error_code} onChange={(event) => change({ error_code: event.target.value })}>
          <option value="">{t('dead.anyError')}</option>
          {data?.codes.map(({ error_code, count }) => (
            <option key={error_code} value={error_code ?? ''}>
              {`${t(`error.${error_code}.name`, { defaultValue: error_code ?? '' })} (${formatCount(count)})`}
            </option>
          ))}
        </select>
      </div>
      <Field {...input('source_prefix')} dir="auto" maxLength={255} autoComplete="off" />
      <Field {...input('died_from')} type="datetime-local" />
      <Field {...input('died_to')} type="datetime-local" />
    </div>
  );
}
