import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../api/review.ts';
import { focusElement, rawIdOf, useCrossHighlight, warningIdOf } from './cross-highlight.tsx';

/** The warnings of one field, each linked to its member of the payload. */
export function WarningNotes({ warnings, named }: { warnings: Warning[] | undefined; named?: boolean }): ReactNode {
  if (!warnings) return null;
  return (
    <ul className="plain warning-notes">
      {warnings.map((warning) => (
        <li key={warning.pointer + warning.code}>
          <WarningNote warning={warning} named={named ?? false} />
        </li>
      ))}
    </ul>
  );
}

function WarningNote({ warning, named }: { warning: Warning; named: boolean }): ReactNode {
  const { t, i18n } = useTranslation('review');
  const { pointer, code, detail } = warning;
  const { isHighlighted, handlers } = useCrossHighlight(pointer);
  const isKnown = i18n.exists(`review:warning.${code}`);
  return (
    <button
      type="button"
      id={warningIdOf(pointer)}
      className={isHighlighted ? 'warning-note is-pointed' : 'warning-note'}
      title={t('warning.show')}
      onClick={() => focusElement(rawIdOf(pointer))}
      {...handlers}
    >
      <TriangleAlert aria-hidden="true" size={14} />
      <span>
        {named && pointer !== '' && (
          <>
            <bdi dir="ltr" className="mono">
              {pointer}
            </bdi>{' '}
          </>
        )}
        {isKnown ? t(`warning.${code}`) : detail}
      </span>
    </button>
  );
}
