import { Check, X } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { fieldText } from '../../../components/order-values.ts';

/** Enter saves and Escape cancels anywhere in an editor; Shift+Enter inserts a line break. */
export function editorKeys(save: () => void, cancel: () => void) {
  return (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') cancel();
    else if (event.key === 'Enter' && !event.shiftKey && !(event.target instanceof HTMLButtonElement)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

export function EditorButtons({ isBusy, onCancel }: { isBusy: boolean; onCancel: () => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      <button
        type="submit"
        className="icon-button"
        aria-label={t('action.save')}
        title={t('action.save')}
        aria-disabled={isBusy}
      >
        <Check aria-hidden="true" size={18} />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label={t('action.cancel')}
        title={t('action.cancel')}
        onClick={onCancel}
      >
        <X aria-hidden="true" size={18} />
      </button>
    </>
  );
}

/** Somebody else changed the value while it was edited here: both are shown, and the reviewer chooses. */
export function ConflictNote({
  theirs,
  onMine,
  onTheirs,
}: {
  theirs: string;
  onMine: () => void;
  onTheirs: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  return (
    <div className="conflict-note" role="alert">
      <p>
        {t('draft.conflict')} <bdi className="conflict-value">{theirs}</bdi>
      </p>
      <div className="row">
        <button type="button" className="button button-small" onClick={onMine}>
          {t('draft.mine')}
        </button>
        <button type="button" className="button button-small" onClick={onTheirs}>
          {t('draft.theirs')}
        </button>
      </div>
    </div>
  );
}

/** An unsaved change below the stored value, while its editor is closed. */
export function DraftNote({
  text,
  pointer,
  onContinue,
  onDiscard,
}: {
  text: string;
  pointer: string;
  /** Null if the order can no longer be edited. */
  onContinue: (() => void) | null;
  onDiscard: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  return (
    <div className="draft-note">
      <p>
        {t('draft.unsaved')} <bdi>{pointer === '/emirate' ? fieldText(t, pointer, text) : text || '–'}</bdi>
      </p>
      <div className="row">
        {onContinue && (
          <button type="button" className="button button-small" onClick={onContinue}>
            {t('draft.continue')}
          </button>
        )}
        <button type="button" className="button button-small" onClick={onDiscard}>
          {t('draft.discard')}
        </button>
      </div>
    </div>
  );
}
