import type { LaneState } from '@orders/queue/queue-stats.ts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { DeadPage, ServiceState, Worker } from '../../api/operator.ts';
import { useGet, usePagedList } from '../../api/queries.ts';
import { Card, Fact } from '../../components/card.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState, Loaded, Paged, Skeleton } from '../../components/loaded.tsx';
import { formatCount } from '../../components/numbers.ts';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { Ago } from '../../components/time.tsx';
import './operator.css';

/** Short, because somebody may watch whether a worker comes back. */
const POLL_INTERVAL_MS = 3000;

/** The state of the service, updated every few seconds. */
export default function ServicePage(): ReactNode {
  const { t } = useTranslation('operator');
  const service = useGet<ServiceState>(['operator', 'service'], '/operator/service', {
    refetchInterval: POLL_INTERVAL_MS,
  });
  return (
    <div className="stack">
      <PageHeader title={t('common:nav.service')} about={t('service.about')}>
        <HelpLink page="service" />
      </PageHeader>
      <Loaded query={service} skeleton={<Skeleton shape="blocks" count={1} />}>
        {(state) => <State state={state} />}
      </Loaded>
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
      <Card title={t('service.workers')} className="table-card">
        <WorkersTable workers={workers} />
      </Card>
      <Card title={t('service.lanes')} className="table-card">
        {lanes && <LanesTable lanes={lanes} />}
        <dl className="facts service-oldest">
          <Fact name={t('service.oldest')}>
            {oldest_pending_at === null ? t('service.allFinal') : <Ago at={oldest_pending_at} />}
          </Fact>
        </dl>
      </Card>
    </>
  );
}

/** The jobs in each lane of the queue. */
function LanesTable({ lanes }: { lanes: LaneState[] }): ReactNode {
  const { t } = useTranslation('operator');
  const count = (name: 'waiting' | 'active' | 'delayed') => ({
    header: t(`service.${name}`),
    isNumber: true,
    cell: (state: LaneState) => formatCount(state[name]),
  });
  return (
    <DataTable
      rows={lanes}
      keyOf={({ lane }) => lane}
      columns={[
        {
          header: t('service.lane'),
          cell: ({ lane }) => (
            <>
              {t(`service.${lane}`)}
              <p className="hint">{t(`service.${lane}About`)}</p>
            </>
          ),
        },
        count('waiting'),
        count('active'),
        count('delayed'),
      ]}
    />
  );
}

/** The workers of the last hour, each with its last sign of life. One that stopped in an orderly way is not listed. */
function WorkersTable({ workers }: { workers: Worker[] }): ReactNode {
  const { t } = useTranslation('operator');
  if (workers.length === 0) return <EmptyState title={t('service.none')} text={t('service.noneAbout')} />;
  return (
    <DataTable
      rows={workers}
      keyOf={({ worker_id }) => worker_id}
      columns={[
        {
          header: t('service.worker'),
          cell: ({ host, pid }) => (
            <>
              <bdi dir="ltr">{host}</bdi> <span className="hint">{t('service.process', { id: pid })}</span>
            </>
          ),
        },
        { header: t('service.state'), cell: (worker) => <WorkerBadge worker={worker} /> },
        { header: t('service.seen'), cell: ({ seen_at }) => <Ago at={seen_at} /> },
        { header: t('service.started'), cell: ({ started_at }) => <Ago at={started_at} /> },
      ]}
    />
  );
}

function WorkerBadge({ worker: { is_alive, has_queue } }: { worker: Worker }): ReactNode {
  const { t } = useTranslation('operator');
  if (!is_alive) return <span className="badge badge-bad">{t('service.silent')}</span>;
  if (!has_queue) return <span className="badge badge-warn">{t('service.noQueue')}</span>;
  return <span className="badge badge-good">{t('service.running')}</span>;
}

/** Receipts of all accounts that failed for good, latest first. */
function DeadList(): ReactNode {
  const { t } = useTranslation('operator');
  const list = usePagedList({
    queryKey: ['operator', 'dead'],
    path: '/operator/dead',
    query: (next) => ({ ...next }),
    rowsOf: ({ dead }: DeadPage) => dead,
  });
  return (
    <Card title={t('dead.title')} className="table-card">
      <Paged list={list} empty={<EmptyState title={t('dead.none')} text={t('dead.noneAbout')} />}>
        {(rows) => (
          <DataTable
            rows={rows}
            keyOf={({ receipt_id }) => receipt_id}
            columns={[
              {
                header: t('dead.receipt'),
                cell: ({ receipt_id, account_id }) => (
                  <Link href={`/accounts/${account_id}/receipts/${receipt_id}`} className="mono" dir="ltr">
                    {receipt_id}
                  </Link>
                ),
              },
              { header: t('accounts.account'), cell: ({ account_name }) => <bdi>{account_name}</bdi> },
              { header: t('dead.error'), cell: ({ error_code }) => <Cause code={error_code} /> },
              { header: t('dead.since'), cell: ({ died_at }) => <Ago at={died_at} /> },
            ]}
          />
        )}
      </Paged>
    </Card>
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
