import { Eye } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Viewer } from '../../api/review-list.ts';
import { joinNames } from '../../components/join-names.ts';

/** The other reviewers who have this list open. */
export function Viewers({ viewers }: { viewers: readonly Viewer[] }): ReactNode {
  const { t } = useTranslation('review');
  if (viewers.length === 0) return null;
  const names = joinNames(viewers.map(({ name }) => name));
  return (
    <p className="hint viewers" title={t('list.viewers', { names })}>
      <Eye aria-hidden="true" size={14} />
      <span>
        <span className="visually-hidden">{t('list.viewers', { names })}</span>
        <span aria-hidden="true">{names}</span>
      </span>
    </p>
  );
}
