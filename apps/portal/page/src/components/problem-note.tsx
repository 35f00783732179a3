import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../api/client.ts';

/** Translates an error; falls back to the API's own detail. */
export function useProblemText(): (error: unknown) => string {
  const { t, i18n } = useTranslation();
  return (error) => {
    if (!isProblem(error)) return t('problem.internal_error', { id: '?' });
    if (i18n.exists(`problem.${error.code}`)) return t(`problem.${error.code}`, { id: error.requestId });
    return t('problem.other', { detail: error.message });
  };
}

/** An error in place of the result, with an optional retry button. */
export function ProblemNote({ error, retry }: { error: unknown; retry?: () => void }): ReactNode {
  const { t } = useTranslation();
  const textOf = useProblemText();
  return (
    <div className="note note-bad" role="alert">
      <p>{textOf(error)}</p>
      {retry && (
        <button type="button" className="button" onClick={retry}>
          {t('action.retry')}
        </button>
      )}
    </div>
  );
}
