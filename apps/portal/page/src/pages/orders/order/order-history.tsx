import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryEntry } from '../../../api/review.ts';
import { Actor } from '../../../components/actor.tsx';
import { ChangeList } from '../../../components/change-list.tsx';
import { Ago } from '../../../components/time.tsx';

/** The events of an order, newest first. */
export function OrderHistory({ history }: { history: HistoryEntry[] }): ReactNode {
  const { t } = useTranslation('review');
  const titleId = useId();
  if (history.length === 0) return null;
  return (
    <section className="stack-tight history" aria-labelledby={titleId}>
      <h3 id={titleId}>{t('history.title')}</h3>
      <ol className="plain">
        {history.map((entry) => (
          <li key={entry.at + entry.action}>
            <p>
              <strong>{t(`history.${entry.action}`)}</strong> <Actor actor={entry.by} />{' '}
              <span className="hint">
                <Ago at={entry.at} />
              </span>
            </p>
            {entry.reason !== null && <p dir="auto">{entry.reason}</p>}
            {entry.changes_omitted && <p className="hint">{t('history.omitted')}</p>}
            {entry.changes && (
              <ChangeList
                changes={entry.changes.map(({ pointer, before, after }) => ({ pointer, from: before, to: after }))}
              />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
