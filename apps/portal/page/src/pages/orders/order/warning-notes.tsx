import { Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../../api/review.ts';
import { Mono } from '../../../components/card.tsx';
import { fieldLabel, warningText } from '../../../components/order-values.ts';
import { focusElement, rawIdOf, useCrossHighlight, warningIdOf } from './cross-highlight.tsx';

/** The warnings of one field that a person should look at, each linked to its member of the payload. */
export function WarningNotes({ warnings, named }: { warnings: Warning[] | undefined; named?: boolean }): ReactNode {
  const shown = warnings?.filter(({ severity }) => severity === 'check') ?? [];
  if (shown.length === 0) return null;
  return <NoteList warnings={shown} named={named ?? false} />;
}

/** Harmless, certain corrections of the whole order, folded up. */
export function Corrections({ warnings }: { warnings: Warning[] }): ReactNode {
  const { t } = useTranslation('review');
  const corrections = warnings.filter(({ severity }) => severity === 'corrected');
  if (corrections.length === 0) return null;
  return (
    <details className="corrections">
      <summary>{t('correction.title', { count: corrections.length })}</summary>
      <NoteList warnings={corrections} named />
    </details>
  );
}

function NoteList({ warnings, named }: { warnings: Warning[]; named: boolean }): ReactNode {
  return (
    <ul className="plain warning-notes">
      {warnings.map((warning) => (
        <li key={warning.pointer + warning.code}>
          <WarningNote warning={warning} named={named} />
        </li>
      ))}
    </ul>
  );
}

function WarningNote({ warning, named }: { warning: Warning; named: boolean }): ReactNode {
  const { t, i18n } = useTranslation('review');
  const { pointer, severity } = warning;
  const { isHighlighted, handlers } = useCrossHighlight(pointer);
  const label = fieldLabel(t, pointer);
  const Icon = severity === 'check' ? TriangleAlert : Info;
  return (
    <button
      type="button"
      id={warningIdOf(pointer)}
      className={`warning-note is-${severity}${isHighlighted ? ' is-pointed' : ''}`}
      title={t('warning.show')}
      onClick={() => focusElement(rawIdOf(pointer))}
      {...handlers}
    >
      <Icon aria-hidden="true" size={14} />
      <span>
        {named && pointer !== '' && <>{label === pointer ? <Mono>{pointer}</Mono> : <strong>{label}</strong>} </>}
        {warningText({ t, i18n }, warning)}
      </span>
    </button>
  );
}
