import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryEntry } from '../../api/review.ts';
import { Ago } from '../../parts/time.tsx';
import { ALL_FIELD_NAMES } from './fields.ts';

/** Who did what to an order, newest first. */
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
              <strong>{t(`history.${entry.action}`)}</strong> <bdi dir="ltr">{entry.by}</bdi>{' '}
              <span className="hint">
                <Ago at={entry.at} />
              </span>
            </p>
            {entry.reason !== null && <p dir="auto">{entry.reason}</p>}
            {entry.changes && (
              <ul className="plain">
                {entry.changes.map((change) => (
                  <Change key={change.pointer} {...change} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Change({ pointer, before, after }: { pointer: string; before: unknown; after: unknown }): ReactNode {
  const { t } = useTranslation('review');
  const name = ALL_FIELD_NAMES.get(pointer);
  const item = /^\/items\/(\d+)(?:\/(name|quantity|sku))?$/.exec(pointer);
  const label = name
    ? t(`field.${name}`)
    : item
      ? `${t('field.items')} ${Number(item[1]) + 1}${item[2] ? `: ${t(`item.${item[2]}`)}` : ''}`
      : pointer;
  return (
    <li>
      <span className="hint">{label}</span> <del dir="auto">{asText(before)}</del>{' '}
      <span className="visually-hidden">{t('history.to')}</span> <ins dir="auto">{asText(after)}</ins>
    </li>
  );
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
