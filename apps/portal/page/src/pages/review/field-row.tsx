import { Pencil } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../api/review.ts';
import { FieldEditor } from './field-editor.tsx';
import type { FieldKind } from './fields.ts';
import { WarningNotes } from './warning-notes.tsx';

/** Editing state of the open order's fields. */
export interface Editing {
  pointer: string | null;
  /** Null if the order can no longer be edited. */
  begin: ((pointer: string) => void) | null;
  end: () => void;
  save: (edits: Record<string, string | number | null>) => void;
}

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

/** Returns the focus to the edit button when the editor closes. */
export function useRestoreFocus<T extends HTMLElement>(isEdited: boolean) {
  const container = useRef<T>(null);
  const wasEdited = useRef(isEdited);
  useEffect(() => {
    if (wasEdited.current && !isEdited) container.current?.querySelector<HTMLElement>('.edit-button')?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  return container;
}

/** One field: its value or its editor, and the warnings about it. */
export function FieldRow({
  pointer,
  label,
  kind,
  value,
  warnings,
  editing,
  children,
}: {
  pointer: string;
  label: string;
  kind: FieldKind;
  value: string | null;
  warnings: Warning[] | undefined;
  editing: Editing;
  /** The formatted value. */
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation();
  const isEdited = editing.pointer === pointer;
  const container = useRestoreFocus<HTMLDivElement>(isEdited);
  return (
    <div ref={container} className={warnings ? 'fact fact-warned' : 'fact'}>
      <dt>{label}</dt>
      <dd>
        {isEdited ? (
          <FieldEditor
            label={label}
            kind={kind}
            value={value}
            onSave={(changed) => editing.save({ [pointer]: changed })}
            onCancel={editing.end}
          />
        ) : (
          <div className="fact-value">
            {value === null ? <span className="hint">{t('state.none')}</span> : children}
            <EditButton pointer={pointer} label={label} editing={editing} />
          </div>
        )}
        <WarningNotes warnings={warnings} />
      </dd>
    </div>
  );
}
