import { ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Arrivals } from './use-new-orders.ts';

/** New orders above what is being read, and the way up to them. */
export function NewOrdersPill({ arrivals, onJump }: { arrivals: Arrivals; onJump: () => void }): ReactNode {
  const { t } = useTranslation('review');
  const count = arrivals.orders.length;
  const text = count > 0 ? t(arrivals.gap ? 'list.manyNew' : 'list.new', { count }) : '';
  return (
    <>
      <p className="visually-hidden" role="status">
        {text}
      </p>
      {count > 0 && (
        <button type="button" className="button new-orders" onClick={onJump}>
          <ArrowUp aria-hidden="true" size={16} />
          {text}
        </button>
      )}
    </>
  );
}
