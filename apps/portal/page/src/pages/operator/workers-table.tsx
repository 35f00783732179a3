import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/operator.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Ago } from '../../components/time.tsx';
import '../../components/data-table.css';

/** The workers of the last hour, each with its last sign of life. One that stopped in an orderly way is not listed. */
export function WorkersTable({ workers }: { workers: Worker[] }): ReactNode {
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
