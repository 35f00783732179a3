import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { timeOfDay } from '../../components/time.tsx';

/** Says that the list may be out of date, and since when. */
export function StaleNote({ since, retry }: { since: number | null; retry: () => void }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <div role="status">
      {since !== null && (
        <div className="stale-note">
          <TriangleAlert aria-hidden="true" size={16} />
          <span>{t('list.stale', { time: timeOfDay(since) })}</span>
          <button type="button" className="button" onClick={retry}>
            {t('common:action.retry')}
          </button>
        </div>
      )}
    </div>
  );
}
