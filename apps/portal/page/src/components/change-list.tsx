import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Change, fieldLabel, fieldText, readable } from './order-values.ts';
import './change-list.css';

/** What changed in an order, field by field: what it was, and what it became. */
export function ChangeList({ changes }: { changes: readonly Change[] }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <ul className="plain change-list">
      {readable(changes).map(({ pointer, from, to, cut }) => (
        <li key={pointer}>
          <span className="hint">{fieldLabel(t, pointer)}</span>{' '}
          {cut ? (
            t('resend.cut')
          ) : (
            <>
              <del dir="auto">{fieldText(t, pointer, from)}</del>{' '}
              <span className="visually-hidden">{t('history.to')}</span>{' '}
              <ins dir="auto">{fieldText(t, pointer, to)}</ins>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
