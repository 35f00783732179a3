import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { FieldError } from '../../../components/field.tsx';
import { EMIRATE_NAMES, fieldText } from '../../../components/order-values.ts';
import { EMIRATE_CODES } from '../list/filters.ts';
import type { FieldKind } from '../order/fields.ts';
import { type Editing, useEditProblem, useSave } from './editing.ts';
import { ConflictNote, EditorButtons, editorKeys } from './editor-parts.tsx';

/** Edits one field in place. A value of white space only empties the field. */
export function FieldEditor({
  pointer,
  label,
  kind,
  value,
  editing,
}: {
  pointer: string;
  label: string;
  kind: FieldKind;
  /** The stored value. */
  value: string | null;
  editing: Editing;
}): ReactNode {
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
    <form
      className="field-editor"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="editor-line">
        {kind === 'emirate' ? (
          <EmirateSelect {...shared} />
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
    </form>
  );
}

/** The seven emirates, an empty entry and, if the value is none of them, the value. */
function EmirateSelect(props: React.ComponentProps<'select'> & { value: string }): ReactNode {
  const { t } = useTranslation('review');
  const isOther = props.value !== '' && !Object.values(EMIRATE_NAMES).includes(props.value);
  return (
    <select {...props}>
      <option value="">–</option>
      {isOther && <option value={props.value}>{props.value}</option>}
      {EMIRATE_CODES.map((code) => (
        <option key={code} value={EMIRATE_NAMES[code]}>
          {t(`emirate.${code}`)}
        </option>
      ))}
    </select>
  );
}
