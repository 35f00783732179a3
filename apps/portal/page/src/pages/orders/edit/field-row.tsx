import { Pencil } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../../api/review.ts';
import { IconButton } from '../../../components/button.tsx';
import { FieldError } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { EMIRATE_NAMES, fieldText, valuesOf } from '../../../components/order-values.ts';
import { EMIRATE_CODES } from '../list/filters.ts';
import type { FieldEntry, FieldKind } from '../order/fields.ts';
import { WarningNotes } from '../order/warning-notes.tsx';
import { type Editing, useEditProblem, useSave } from './editing.ts';
import { ConflictNote, DraftNote, EditorButtons, editorKeys } from './editor-parts.tsx';

/** Opens an editor. Gets the focus back when the editor closes. */
export function EditButton(props: { pointer: string; label: string; editing: Editing }): ReactNode {
  const { pointer, label, editing } = props;
  const { t } = useTranslation('review');
  const { begin } = editing;
  if (!begin) return null;
  return (
    <IconButton
      className="edit-button"
      label={t('field.edit', { field: label })}
      Icon={Pencil}
      size={15}
      onClick={() => begin(pointer)}
    />
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
export function FieldRow(props: {
  field: FieldEntry;
  label: string;
  value: string | null;
  warnings: Warning[] | undefined;
  editing: Editing;
  /** Whether the order cannot be delivered because of this field. */
  isBlocking: boolean;
  /** Small buttons and links for the value. */
  actions?: ReactNode;
  /** Who changed the value, and from what. */
  change?: ReactNode;
  /** The formatted value. */
  children: ReactNode;
}): ReactNode {
  const {
    field: { pointer, kind, need },
    label,
    value,
    warnings,
    editing,
    isBlocking,
    actions,
    change,
    children,
  } = props;
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
        {change}
        <WarningNotes warnings={warnings} />
      </dd>
    </div>
  );
}

/** Edits one field in place. A value of white space only empties the field. */
function FieldEditor(props: {
  pointer: string;
  label: string;
  kind: FieldKind;
  /** The stored value. */
  value: string | null;
  editing: Editing;
}): ReactNode {
  const { pointer, label, kind, value, editing } = props;
  const { t } = useTranslation('review');
  const id = useId();
  const problemOf = useEditProblem();
  const saving = useSave(editing);
  const draft = editing.drafts[pointer] ?? { text: value ?? '', seen: value };
  const { text } = draft;
  const input = useRef<HTMLInputElement & HTMLSelectElement & HTMLTextAreaElement>(null);
  const focus = () => input.current?.focus();
  useEffect(() => {
    input.current?.focus();
    input.current?.select?.();
  }, []);
  const close = () => {
    editing.keep(pointer, null);
    editing.end();
  };
  const isChanged = text !== (value ?? '');
  const isConflict = isChanged && draft.seen !== value;
  const write = (expected: string | null) =>
    saving.run(
      { [pointer]: text.trim() === '' ? null : text },
      { [pointer]: expected },
      { onSaved: editing.end, onFailed: focus },
    );
  const save = () => {
    if (!isChanged) close();
    else if (isConflict) focus();
    else write(value);
  };
  const problem = problemOf(saving.error);
  const shared = {
    ref: input,
    'aria-label': label,
    'aria-invalid': problem !== null || undefined,
    'aria-describedby': problem === null ? undefined : id,
    value: text,
    onChange: (event: { target: { value: string } }) => {
      const typed = event.target.value;
      saving.reset();
      editing.keep(pointer, typed === (draft.seen ?? '') ? null : { text: typed, seen: draft.seen });
    },
    onKeyDown: editorKeys(save, close),
  };
  const isCode = kind === 'code' || kind === 'phone' || kind === 'amount';
  return (
    <Form className="field-editor" onSubmit={save}>
      <div className="editor-line">
        {kind === 'emirate' || kind === 'choice' ? (
          <Select {...shared} pointer={pointer} />
        ) : kind === 'long' ? (
          <textarea {...shared} readOnly={saving.isPending} dir="auto" rows={3} />
        ) : (
          <input
            {...shared}
            readOnly={saving.isPending}
            type={kind === 'phone' ? 'tel' : 'text'}
            inputMode={kind === 'amount' ? 'decimal' : undefined}
            dir={isCode ? 'ltr' : 'auto'}
            autoComplete="off"
          />
        )}
        <EditorButtons isBusy={saving.isPending} onCancel={close} />
      </div>
      <FieldError id={id} text={problem} />
      {isConflict && (
        <ConflictNote
          theirs={fieldText(t, pointer, value)}
          onMine={() => {
            editing.keep(pointer, { text, seen: value });
            write(value);
          }}
          onTheirs={close}
        />
      )}
    </Form>
  );
}

/** The values that the field can have, an empty entry and, if the value is none of them, the value. */
function Select({ pointer, ...props }: React.ComponentProps<'select'> & { pointer: string; value: string }): ReactNode {
  const { t } = useTranslation('review');
  const values = pointer === '/emirate' ? EMIRATE_CODES.map((code) => EMIRATE_NAMES[code]) : valuesOf(pointer.slice(1));
  const isOther = props.value !== '' && !values.includes(props.value);
  return (
    <select {...props}>
      <option value="">–</option>
      {isOther && <option value={props.value}>{props.value}</option>}
      {values.map((value) => (
        <option key={value} value={value}>
          {fieldText(t, pointer, value)}
        </option>
      ))}
    </select>
  );
}
