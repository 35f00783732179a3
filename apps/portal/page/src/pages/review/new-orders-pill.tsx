import { ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Announcement, Arrivals } from './use-arrivals.ts';

/** Announces new orders to screen readers, and offers to scroll up to those that wait above. */
export function NewOrdersPill({
  arrivals,
  announcement,
  onJump,
}: {
  arrivals: Arrivals;
  announcement: Announcement | null;
  onJump: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const count = arrivals.orders.length;
  return (
    <>
      <p className="visually-hidden" role="status">
        {/* The key makes screen readers announce the same text again. */}
        {announcement && <span key={announcement.newestId}>{t('list.new', { count: announcement.count })}</span>}
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
