import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { ServiceState } from '../../api/operator.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago } from '../../components/time.tsx';
import { DeadList } from './dead-list.tsx';
import { LanesTable } from './lanes-table.tsx';
import { WorkersTable } from './workers-table.tsx';
import './operator.css';

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
