import { ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Arrivals, Heard } from './use-new-orders.ts';

/** Says that orders arrived and, where they wait above what is being read, leads up to them. */
export function NewOrdersPill({
  arrivals,
  heard,
  onJump,
}: {
  arrivals: Arrivals;
  heard: Heard | null;
  onJump: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const count = arrivals.orders.length;
  return (
    <>
      <p className="visually-hidden" role="status">
        {/* With a key, so that the same words are said again when they are true again. */}
        {heard && <span key={heard.newestId}>{t('list.new', { count: heard.count })}</span>}
      </p>
      {count > 0 && (
        <button type="button" className="button new-orders" onClick={onJump}>
          <ArrowUp aria-hidden="true" size={16} />
          {t(arrivals.gap ? 'list.manyNew' : 'list.new', { count })}
        </button>
      )}
    </>
  );
}
