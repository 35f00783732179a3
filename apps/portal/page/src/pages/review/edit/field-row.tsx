import { Pencil } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../../api/review.ts';
import type { FieldEntry } from '../order/fields.ts';
import { WarningNotes } from '../order/warning-notes.tsx';
import type { Editing } from './editing.ts';
import { DraftNote } from './editor-parts.tsx';
import { FieldEditor } from './field-editor.tsx';

/** Opens an editor. Gets the focus back when the editor closes. */
export function EditButton({
  pointer,
  label,
  editing,
}: {
  pointer: string;
  label: string;
  editing: Editing;
}): ReactNode {
  const { t } = useTranslation('review');
  const { begin } = editing;
  if (!begin) return null;
  return (
    <button
      type="button"
      className="icon-button edit-button"
      aria-label={t('field.edit', { field: label })}
      title={t('field.edit', { field: label })}
      onClick={() => begin(pointer)}
    >
      <Pencil aria-hidden="true" size={15} />
    </button>
  );
}

/** Returns the focus to the button that opened the editor when it closes. */
export function useRestoreFocus<T extends HTMLElement>(isEdited: boolean, button = '.edit-button') {
  const container = useRef<T>(null);
  const wasEdited = useRef(isEdited);
  useEffect(() => {
    if (wasEdited.current && !isEdited) container.current?.querySelector<HTMLElement>(button)?.focus();
    wasEdited.current = isEdited;
  }, [isEdited, button]);
  return container;
}

/** One field: its value or its editor, an unsaved change, and the warnings about it. */
export function FieldRow({
  field: { pointer, kind, need },
  label,
  value,
  warnings,
  editing,
  isBlocking,
  actions,
  children,
}: {
  field: FieldEntry;
  label: string;
  value: string | null;
  warnings: Warning[] | undefined;
  editing: Editing;
  /** Whether the order cannot be delivered because of this field. */
  isBlocking: boolean;
  /** Small buttons and links for the value. */
  actions?: ReactNode;
  /** The formatted value. */
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation('review');
  const isEdited = editing.pointer === pointer;
  const container = useRestoreFocus<HTMLDivElement>(isEdited);
  const draft = editing.drafts[pointer];
  const { begin } = editing;
  return (
    <div ref={container} className={isBlocking ? 'fact is-blocking' : 'fact'}>
      <dt>{label}</dt>
      <dd>
        {isEdited ? (
          <FieldEditor pointer={pointer} label={label} kind={kind} value={value} editing={editing} />
        ) : (
          <div className="fact-value">
            {value !== null && children}
            {value === null &&
              (need ? (
                <span className={`missing missing-${need}`}>{t('field.missing')}</span>
              ) : (
                <span className="hint">{t('common:state.none')}</span>
              ))}
            <EditButton pointer={pointer} label={label} editing={editing} />
            {value !== null && actions && <span className="fact-actions">{actions}</span>}
          </div>
        )}
        {!isEdited && draft && (
          <DraftNote
            text={draft.text}
            pointer={pointer}
            onContinue={begin && (() => begin(pointer))}
            onDiscard={() => editing.keep(pointer, null)}
          />
        )}
        <WarningNotes warnings={warnings} />
      </dd>
    </div>
  );
}
