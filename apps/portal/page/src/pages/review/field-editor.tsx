import { Check, X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EMIRATE_NAMES } from '../../components/order-values.ts';
import type { FieldKind } from './fields.ts';
import { EMIRATE_CODES } from './filters.ts';

/** Enter saves and Escape cancels anywhere in an editor; Shift+Enter inserts a line break. */
export function editorKeys(save: () => void, cancel: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key === 'Escape') cancel();
    else if (event.key === 'Enter' && !event.shiftKey && !(event.target instanceof HTMLButtonElement)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

export function EditorButtons({ onCancel }: { onCancel: () => void }): ReactNode {
  const { t } = useTranslation();
  return (
    <>
      <button type="submit" className="icon-button" aria-label={t('action.save')} title={t('action.save')}>
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

/** Edits one field in place. A value of white space only empties the field. */
export function FieldEditor({
  label,
  kind,
  value,
  onSave,
  onCancel,
}: {
  label: string;
  kind: FieldKind;
  value: string | null;
  onSave: (value: string | null) => void;
  onCancel: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const [draft, setDraft] = useState(value ?? '');
  const input = useRef<HTMLInputElement & HTMLSelectElement & HTMLTextAreaElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.select?.();
  }, []);
  const save = () => (draft === (value ?? '') ? onCancel() : onSave(draft.trim() === '' ? null : draft));
  const shared = {
    ref: input,
    'aria-label': label,
    value: draft,
    onChange: (event: { target: { value: string } }) => setDraft(event.target.value),
    onKeyDown: editorKeys(save, onCancel),
  };
  const isCode = kind === 'code' || kind === 'phone';
  return (
    <form
      className="field-editor"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {kind === 'emirate' ? (
        <select {...shared}>
          {!Object.values(EMIRATE_NAMES).includes(value ?? '') && <option value={value ?? ''}>{value ?? '–'}</option>}
          {EMIRATE_CODES.map((code) => (
            <option key={code} value={EMIRATE_NAMES[code]}>
              {t(`emirate.${code}`)}
            </option>
          ))}
        </select>
      ) : kind === 'long' ? (
        <textarea {...shared} dir="auto" rows={3} />
      ) : (
        <input {...shared} type={kind === 'phone' ? 'tel' : 'text'} dir={isCode ? 'ltr' : 'auto'} autoComplete="off" />
      )}
      <EditorButtons onCancel={onCancel} />
    </form>
  );
}
