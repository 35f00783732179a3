import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import './skeleton.css';

/**
 * Grey shapes with the size of the content to come, so that the layout does not move when it arrives. `shape` follows the content: lines of
 * text, rows of a table or list, or blocks such as cards and charts.
 */
export function Skeleton({
  shape = 'lines',
  count = 3,
}: {
  shape?: 'lines' | 'rows' | 'blocks';
  count?: number;
}): ReactNode {
  const { t } = useTranslation();
  return (
    <div className={`skeleton skeleton-${shape}`} role="status">
      <span className="visually-hidden">{t('state.loading')}</span>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the shapes are all the same.
        <span key={index} className="skeleton-shape" aria-hidden="true" />
      ))}
    </div>
  );
}

/** Stands in for a whole page: a heading and rows. */
export function PageSkeleton(): ReactNode {
  return (
    <div className="stack">
      <span className="skeleton-shape skeleton-heading" aria-hidden="true" />
      <Skeleton shape="rows" count={8} />
    </div>
  );
}
