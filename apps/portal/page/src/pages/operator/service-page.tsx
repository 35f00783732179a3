import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { ServiceState } from '../../api/operator.ts';
import { formatCount } from '../../components/numbers.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Ago } from '../../components/time.tsx';
import { DeadList } from './dead-list.tsx';
import './operator.css';

/** The state of the service, updated every few seconds. */
export function ServicePage(): ReactNode {
  const { t } = useTranslation('operator');
  const service = useQuery({
    queryKey: ['operator', 'service'],
    queryFn: ({ signal }) => call<ServiceState>('GET', '/operator/service', { signal }),
    refetchInterval: 5000,
  });
  return (
    <div className="stack">
      <h1>{t('service.title')}</h1>
      {service.isError && <ProblemNote error={service.error} retry={() => void service.refetch()} />}
      {service.data && <State state={service.data} />}
      <DeadList />
    </div>
  );
}

function State({ state }: { state: ServiceState }): ReactNode {
  const { t } = useTranslation('operator');
  const { workers, lanes, oldest_pending_at } = state;
  return (
    <section className="card stack" aria-label={t('service.title')}>
      {lanes === null && (
        <p className="note note-warn" role="status">
          {t('service.queueAway')}
        </p>
      )}
      {workers === 0 && (
        <p className="note note-bad" role="status">
          {t('service.noWorkers')}
        </p>
      )}
      <dl className="facts">
        <dt>{t('service.workers')}</dt>
        <dd>{workers === null ? '?' : formatCount(workers)}</dd>
        <dt>{t('service.oldest')}</dt>
        <dd>{oldest_pending_at === null ? t('service.allFinal') : <Ago at={oldest_pending_at} />}</dd>
      </dl>
      {lanes && (
        <div className="table-scroll">
          <table className="table wide-table">
            <caption className="operator-caption">{t('service.lanes')}</caption>
            <thead>
              <tr>
                <th scope="col">{t('service.lane')}</th>
                <th scope="col">{t('service.waiting')}</th>
                <th scope="col">{t('service.active')}</th>
                <th scope="col">{t('service.delayed')}</th>
              </tr>
            </thead>
            <tbody>
              {lanes.map(({ lane, waiting, active, delayed }) => (
                <tr key={lane}>
                  <th scope="row">{t(`service.${lane}`)}</th>
                  <td>{formatCount(waiting)}</td>
                  <td>{formatCount(active)}</td>
                  <td>{formatCount(delayed)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p>
        <a href="/operator/queues">{t('service.board')}</a>
      </p>
    </section>
  );
}
