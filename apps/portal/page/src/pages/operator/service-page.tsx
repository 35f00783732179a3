import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { ServiceState, Worker } from '../../api/operator.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago } from '../../components/time.tsx';
import { DeadList } from './dead-list.tsx';
import './operator.css';
import type { LaneState } from '@orders/queue/queue-stats.ts';
import { formatCount } from '../../components/numbers.ts';
import '../../components/data-table.css';
import { EmptyState } from '../../components/empty-state.tsx';
import '../../components/data-table.css';

/** Short, because somebody may watch whether a worker comes back. */
const POLL_INTERVAL_MS = 3000;

/** The state of the service, updated every few seconds. */
export function ServicePage(): ReactNode {
  const { t } = useTranslation('operator');
  const service = useQuery({
    queryKey: ['operator', 'service'],
    queryFn: ({ signal }) => call<ServiceState>('GET', '/operator/service', { signal }),
    refetchInterval: POLL_INTERVAL_MS,
  });
  return (
    <div className="stack">
      <PageHeader title={t('service.title')} about={t('service.about')}>
        <HelpLink page="service" />
        <a className="button" href="/operator/queues">
          {t('service.board')}
        </a>
      </PageHeader>
      {service.isError && <ProblemNote error={service.error} retry={() => void service.refetch()} />}
      {service.isPending && <Skeleton shape="blocks" count={1} />}
      {service.data && <State state={service.data} />}
      <DeadList />
    </div>
  );
}

function State({ state: { workers, lanes, oldest_pending_at } }: { state: ServiceState }): ReactNode {
  const { t } = useTranslation('operator');
  return (
    <>
      {lanes === null && (
        <p className="note note-warn" role="status">
          {t('service.queueAway')}
        </p>
      )}
      {!workers.some(({ is_alive }) => is_alive) && (
        <p className="note note-bad" role="status">
          {t('service.noWorkers')}
        </p>
      )}
      <div className="service-parts">
        <section className="card table-card" aria-labelledby="workers-title">
          <h2 id="workers-title">{t('service.workers')}</h2>
          <WorkersTable workers={workers} />
        </section>
        <section className="card table-card" aria-labelledby="lanes-title">
          <h2 id="lanes-title">{t('service.lanes')}</h2>
          {lanes && <LanesTable lanes={lanes} />}
          <dl className="facts service-oldest">
            <dt>{t('service.oldest')}</dt>
            <dd>{oldest_pending_at === null ? t('service.allFinal') : <Ago at={oldest_pending_at} />}</dd>
          </dl>
        </section>
      </div>
    </>
  );
}

/** The jobs in each lane of the queue. */
function LanesTable({ lanes }: { lanes: LaneState[] }): ReactNode {
  const { t } = useTranslation('operator');
  return (
    <table className="data-table">
      <thead>
        <tr>
          <th scope="col">{t('service.lane')}</th>
          <th scope="col" className="is-number">
            {t('service.waiting')}
          </th>
          <th scope="col" className="is-number">
            {t('service.active')}
          </th>
          <th scope="col" className="is-number">
            {t('service.delayed')}
          </th>
        </tr>
      </thead>
      <tbody>
        {lanes.map(({ lane, waiting, active, delayed }) => (
          <tr key={lane}>
            <th scope="row">
              {t(`service.${lane}`)}
              <p className="hint">{t(`service.${lane}About`)}</p>
            </th>
            <td className="is-number" data-label={t('service.waiting')}>
              {formatCount(waiting)}
            </td>
            <td className="is-number" data-label={t('service.active')}>
              {formatCount(active)}
            </td>
            <td className="is-number" data-label={t('service.delayed')}>
              {formatCount(delayed)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The workers of the last hour, each with its last sign of life. One that stopped in an orderly way is not listed. */
function WorkersTable({ workers }: { workers: Worker[] }): ReactNode {
  const { t } = useTranslation('operator');
  if (workers.length === 0) return <EmptyState title={t('service.none')} text={t('service.noneAbout')} />;
  return (
    <table className="data-table">
      <thead>
        <tr>
          <th scope="col">{t('service.worker')}</th>
          <th scope="col">{t('service.state')}</th>
          <th scope="col">{t('service.seen')}</th>
          <th scope="col">{t('service.started')}</th>
        </tr>
      </thead>
      <tbody>
        {workers.map((worker) => (
          <tr key={worker.worker_id}>
            <th scope="row">
              <bdi dir="ltr">{worker.host}</bdi>{' '}
              <span className="hint">{t('service.process', { id: worker.pid })}</span>
            </th>
            <td data-label={t('service.state')}>
              <WorkerBadge worker={worker} />
            </td>
            <td data-label={t('service.seen')}>
              <Ago at={worker.seen_at} />
            </td>
            <td data-label={t('service.started')}>
              <Ago at={worker.started_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function WorkerBadge({ worker: { is_alive, has_queue } }: { worker: Worker }): ReactNode {
  const { t } = useTranslation('operator');
  if (!is_alive) return <span className="badge badge-bad">{t('service.silent')}</span>;
  if (!has_queue) return <span className="badge badge-warn">{t('service.noQueue')}</span>;
  return <span className="badge badge-good">{t('service.running')}</span>;
}
