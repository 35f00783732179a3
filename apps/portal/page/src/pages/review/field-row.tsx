import { Pencil } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../api/review.ts';
import { FieldEditor } from './field-editor.tsx';
import type { FieldKind } from './fields.ts';
import { WarningNotes } from './warning-notes.tsx';

/** Which field of the open order is being edited, and what becomes of it. */
export interface Editing {
  pointer: string | null;
  /** Null where the order can no longer be edited. */
  begin: ((pointer: string) => void) | null;
  end: () => void;
  save: (edits: Record<string, string | number | null>) => void;
}

/** The way into an editor. It takes the focus back when that closes. */
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

/** Gives the focus back to the button of an editor that was closed. */
export function useFocusBack<T extends HTMLElement>(isEdited: boolean) {
  const place = useRef<T>(null);
  const wasEdited = useRef(isEdited);
  useEffect(() => {
    if (wasEdited.current && !isEdited) place.current?.querySelector<HTMLElement>('.edit-button')?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  return place;
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
  /** How the value is shown. */
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation();
  const isEdited = editing.pointer === pointer;
  const place = useFocusBack<HTMLDivElement>(isEdited);
  return (
    <div ref={place} className={warnings ? 'fact fact-warned' : 'fact'}>
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
