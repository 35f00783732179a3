import type { LaneState } from '@orders/queue/queue-stats.ts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { formatCount } from '../../components/numbers.ts';
import '../../components/data-table.css';

/** The jobs in each lane of the queue. */
export function LanesTable({ lanes }: { lanes: LaneState[] }): ReactNode {
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
