import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import type { DeadPage } from '../../api/operator.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago } from '../../components/time.tsx';
import '../../components/data-table.css';

/** Receipts of all accounts that failed for good, latest first. */
export function DeadList(): ReactNode {
  const { t } = useTranslation('operator');
  const dead = useInfiniteQuery({
    queryKey: ['operator', 'dead'],
    queryFn: ({ pageParam, signal }) => call<DeadPage>('GET', '/operator/dead', { query: { ...pageParam }, signal }),
    initialPageParam: null as DeadPage['next'],
    getNextPageParam: (page) => page.next,
  });
  const rows = dead.data?.pages.flatMap((page) => page.dead) ?? [];
  return (
    <>
      <section className="card table-card" aria-labelledby="dead-title">
        <h2 id="dead-title">{t('dead.title')}</h2>
        {dead.isError && <ProblemNote error={dead.error} retry={() => void dead.refetch()} />}
        {dead.isPending && <Skeleton shape="rows" />}
        {dead.isSuccess && rows.length === 0 && <EmptyState title={t('dead.none')} text={t('dead.noneAbout')} />}
        {rows.length > 0 && (
          <table className="data-table">
            <thead>
              <tr>
                <th scope="col">{t('dead.receipt')}</th>
                <th scope="col">{t('accounts.account')}</th>
                <th scope="col">{t('dead.error')}</th>
                <th scope="col">{t('dead.since')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ receipt_id, account_id, account_name, error_code, died_at }) => (
                <tr key={receipt_id}>
                  <th scope="row">
                    <Link href={`/accounts/${account_id}/receipts/${receipt_id}`} className="mono" dir="ltr">
                      {receipt_id}
                    </Link>
                  </th>
                  <td data-label={t('accounts.account')}>
                    <bdi>{account_name}</bdi>
                  </td>
                  <td data-label={t('dead.error')}>
                    <Cause code={error_code} />
                  </td>
                  <td data-label={t('dead.since')}>
                    <Ago at={died_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      {dead.hasNextPage && (
        <button type="button" className="button more-button" onClick={() => void dead.fetchNextPage()}>
          {t('common:action.more')}
        </button>
      )}
    </>
  );
}

/** The cause in words, with its code, which the log and the pages for operators use. */
function Cause({ code }: { code: string | null }): ReactNode {
  const { t } = useTranslation('receipts');
  return (
    <>
      {code !== null && t(`error.${code}.name`, { defaultValue: '' })}{' '}
      <code dir="ltr" className="hint">
        {code ?? '?'}
      </code>
    </>
  );
}
