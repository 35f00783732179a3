import { Check, X } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../../../components/button.tsx';
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
      <IconButton type="submit" label={t('action.save')} Icon={Check} aria-disabled={isBusy} />
      <IconButton label={t('action.cancel')} Icon={X} onClick={onCancel} />
    </>
  );
}

/** Somebody else changed the value while it was edited here: both are shown, and the reviewer chooses. */
export function ConflictNote(props: { theirs: string; onMine: () => void; onTheirs: () => void }): ReactNode {
  const { theirs, onMine, onTheirs } = props;
  const { t } = useTranslation('review');
  return (
    <div className="conflict-note" role="alert">
      <p>
        {t('draft.conflict')} <bdi className="conflict-value">{theirs}</bdi>
      </p>
      <div className="row">
        <Button className="button-small" onClick={onMine}>
          {t('draft.mine')}
        </Button>
        <Button className="button-small" onClick={onTheirs}>
          {t('draft.theirs')}
        </Button>
      </div>
    </div>
  );
}

/** An unsaved change below the stored value, while its editor is closed. */
export function DraftNote(props: {
  text: string;
  pointer: string;
  /** Null if the order can no longer be edited. */
  onContinue: (() => void) | null;
  onDiscard: () => void;
}): ReactNode {
  const { text, pointer, onContinue, onDiscard } = props;
  const { t } = useTranslation('review');
  return (
    <div className="draft-note">
      <p>
        {t('draft.unsaved')} <bdi>{pointer === '/emirate' ? fieldText(t, pointer, text) : text || '–'}</bdi>
      </p>
      <div className="row">
        {onContinue && (
          <Button className="button-small" onClick={onContinue}>
            {t('draft.continue')}
          </Button>
        )}
        <Button className="button-small" onClick={onDiscard}>
          {t('draft.discard')}
        </Button>
      </div>
    </div>
  );
}
