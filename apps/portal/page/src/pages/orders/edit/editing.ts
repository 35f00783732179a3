import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import type { Edits, Expected } from '../../../api/review.ts';
import type { Draft, Drafts } from '../../../components/drafts.ts';
import { useProblemText } from '../../../components/loaded.tsx';
import { useAction } from '../../../components/use-action.ts';

/** Editing state of the open order's fields. */
export interface Editing {
  pointer: string | null;
  /** Null if the order can no longer be edited. */
  begin: ((pointer: string) => void) | null;
  end: () => void;
  drafts: Drafts;
  keep: (pointer: string, draft: Draft | null) => void;
  /** `expected` are the values that the editor saw; the service does not overwrite others. */
  save: (edits: Edits, expected: Expected) => Promise<unknown>;
}

/** Saves the edits of one editor, which stays open with the reason if they are not accepted. */
export function useSave(editing: Editing) {
  const mutation = useAction({
    mutationFn: ({ edits, expected }: { edits: Edits; expected: Expected }) => editing.save(edits, expected),
  });
  return {
    isPending: mutation.isPending,
    error: mutation.error,
    reset: mutation.reset,
    /** `onSaved` and `onFailed` do not run if the editor is gone by then. */
    run(edits: Edits, expected: Expected, { onSaved, onFailed }: { onSaved?: () => void; onFailed?: () => void } = {}) {
      if (mutation.isPending) return;
      mutation.mutate({ edits, expected }, { onSuccess: () => onSaved?.(), onError: () => onFailed?.() });
    },
  };
}

/**
 * Says why an edit was not saved, or null if there is nothing to say in the editor: a conflict is shown with both values once the order is
 * loaded again.
 */
export function useEditProblem(): (error: unknown, isAbout?: (pointer: string) => boolean) => string | null {
  const { t, i18n } = useTranslation('review');
  const textOf = useProblemText();
  return (error, isAbout = () => true) => {
    if (!error || isProblem(error, 'conflicting_state')) return null;
    if (!isProblem(error, 'invalid_request') || error.errors.length === 0) return isAbout('') ? textOf(error) : null;
    const found = error.errors.find(({ pointer }) => isAbout(pointer));
    if (!found) return null;
    return i18n.exists(`review:refused.${found.code}`)
      ? t(`refused.${found.code}`)
      : t('refused.other', { detail: found.detail });
  };
}
