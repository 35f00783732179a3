import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import type { DeadPage } from '../../api/operator.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Ago } from '../../components/time.tsx';

/** Dead receipts of all accounts, by time of death, latest first. */
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
    <section className="card stack">
      <h2>{t('dead.title')}</h2>
      {dead.isError && <ProblemNote error={dead.error} retry={() => void dead.refetch()} />}
      {dead.isSuccess && rows.length === 0 && <p className="hint">{t('dead.none')}</p>}
      {rows.length > 0 && (
        <div className="table-scroll">
          <table className="table wide-table">
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
                  <td>
                    <bdi>{account_name}</bdi>
                  </td>
                  <td>
                    <code dir="ltr">{error_code ?? '?'}</code>
                  </td>
                  <td>
                    <Ago at={died_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {dead.hasNextPage && (
        <button type="button" className="button" onClick={() => void dead.fetchNextPage()}>
          {t('common:action.more')}
        </button>
      )}
    </section>
  );
}
