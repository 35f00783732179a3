import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../api/client.ts';

/** Translates an error; falls back to the API's own detail. */
export function useProblemText(): (error: unknown) => string {
  const { t, i18n } = useTranslation();
  return (error) => {
    if (!isProblem(error)) return t('problem.internal_error', { id: '?' });
    const field = error.errors.find(({ code }) => i18n.exists(`fieldProblem.${code}`));
    if (field) return t(`fieldProblem.${field.code}`);
    if (i18n.exists(`problem.${error.code}`)) return t(`problem.${error.code}`, { id: error.requestId });
    return t('problem.other', { detail: error.message });
  };
}

/** Whether the same request would fail again. */
export function isFinal(error: unknown): boolean {
  return isProblem(error) && [400, 403, 404, 422].includes(error.status);
}

/** An error in place of the result, with a retry button if a retry could help. */
export function ProblemNote({ error, retry }: { error: unknown; retry?: () => void }): ReactNode {
  const { t } = useTranslation();
  const textOf = useProblemText();
  return (
    <div className="note note-bad" role="alert">
      <p>{textOf(error)}</p>
      {retry && !isFinal(error) && (
        <button type="button" className="button" onClick={retry}>
          {t('action.retry')}
        </button>
      )}
    </div>
  );
}
