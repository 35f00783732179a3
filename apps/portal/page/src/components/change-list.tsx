import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Change, displayedChanges, fieldLabel, fieldText } from './order-values.ts';

/** The changed fields of an order, with old and new values. */
export function ChangeList({ changes }: { changes: readonly Change[] }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <ul className="plain change-list">
      {displayedChanges(changes).map(({ pointer, from, to, cut }) => (
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
