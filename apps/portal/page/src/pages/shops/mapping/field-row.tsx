import type { TFunction } from 'i18next';
import { Plus, X } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../../../components/button.tsx';
import { FieldError } from '../../../components/field.tsx';
import { type Candidate, type FieldName, isInJsonOnly, takesPointersOnly } from './mapping-form.ts';

const KINDS = ['pointer', 'join', 'constant'] as const;
const EMPTY: Record<(typeof KINDS)[number], Candidate> = {
  pointer: { kind: 'pointer', pointer: '' },
  join: { kind: 'join', parts: '', separator: ' ' },
  constant: { kind: 'constant', constant: '' },
};

/** The texts of an order have one label in the whole portal. */
export const fieldName = (t: TFunction, field: FieldName): string => t([`field.${field}`, `review:field.${field}`]);

/** The id of the row of a field. */
export const rowId = (field: FieldName): string => `row-${field}`;

/** The values that a field can come from. The first one that is present is used. */
export function FieldRow(props: {
  field: FieldName;
  candidates: Candidate[];
  error: string | null;
  hidden: boolean;
  onChange: (candidates: Candidate[]) => void;
  /** A field that takes a pointer has the focus. */
  onFocus: (index: number, element: HTMLElement) => void;
}): ReactNode {
  const { t } = useTranslation(['sources', 'review']);
  const id = useId();
  const { field, candidates, onChange } = props;
  const label = fieldName(t, field);
  const isFull = isInJsonOnly(field) || (field === 'items/omit_if_zero' && candidates.length > 0);
  const change = (index: number, next: Candidate) => onChange(candidates.with(index, next));
  const add = () => {
    onChange([...candidates, EMPTY.pointer]);
    setTimeout(() => document.getElementById(`${id}-${candidates.length}`)?.focus());
  };
  const remove = (index: number) => {
    onChange(candidates.toSpliced(index, 1));
    setTimeout(() => document.getElementById(`${id}-add`)?.focus());
  };
  return (
    <fieldset
      id={rowId(field)}
      className="mapping-row"
      hidden={props.hidden}
      aria-describedby={props.error ? `${id}-error` : undefined}
    >
      <legend>{label}</legend>
      {candidates.map((candidate, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: candidates have no other identity.
        <div key={index} className="mapping-candidate">
          {!takesPointersOnly(field) && candidate.kind !== 'other' && (
            <select
              aria-label={t('candidate.kind', { field: label })}
              value={candidate.kind}
              onChange={(event) => change(index, EMPTY[event.target.value as keyof typeof EMPTY])}
            >
              {KINDS.map((kind) => (
                <option key={kind} value={kind}>
                  {t(`candidate.${kind}`)}
                </option>
              ))}
            </select>
          )}
          <CandidateInput
            id={`${id}-${index}`}
            label={candidates.length > 1 ? t('candidate.numbered', { field: label, number: index + 1 }) : label}
            isQuantity={field === 'items/quantity'}
            isInvalid={props.error !== null}
            candidate={candidate}
            onChange={(next) => change(index, next)}
            onFocus={(element) => props.onFocus(index, element)}
          />
          <IconButton
            label={t('candidate.remove', { field: label })}
            Icon={X}
            size={16}
            onClick={() => remove(index)}
          />
        </div>
      ))}
      <FieldError id={`${id}-error`} text={props.error} />
      {!isFull && (
        <Button
          id={`${id}-add`}
          kind="quiet"
          className="mapping-add"
          aria-label={t(candidates.length === 0 ? 'candidate.addTo' : 'candidate.addElseTo', { field: label })}
          onClick={add}
        >
          <Plus aria-hidden="true" size={14} />
          {t(candidates.length === 0 ? 'candidate.add' : 'candidate.addElse')}
        </Button>
      )}
    </fieldset>
  );
}

function CandidateInput(props: {
  id: string;
  label: string;
  isQuantity: boolean;
  isInvalid: boolean;
  candidate: Candidate;
  onChange: (candidate: Candidate) => void;
  onFocus: (element: HTMLElement) => void;
}): ReactNode {
  const { t } = useTranslation('sources');
  const { candidate, onChange, label, isQuantity } = props;
  const common = {
    id: props.id,
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': props.isInvalid ? true : undefined,
  } as const;
  const onFocus = (event: { currentTarget: HTMLElement }) => props.onFocus(event.currentTarget);
  switch (candidate.kind) {
    case 'pointer':
      return (
        <input
          {...common}
          className="mono"
          dir="ltr"
          aria-label={label}
          placeholder="/…"
          maxLength={255}
          value={candidate.pointer}
          onFocus={onFocus}
          onInput={(event) => onChange({ ...candidate, pointer: event.currentTarget.value })}
        />
      );
    case 'constant':
      return (
        <input
          {...common}
          dir="auto"
          aria-label={label}
          maxLength={255}
          value={candidate.constant}
          onInput={({ currentTarget: { value } }) =>
            onChange({ ...candidate, constant: isQuantity && /^\d{1,9}$/.test(value) ? Number(value) : value })
          }
        />
      );
    case 'join':
      return (
        <span className="mapping-join">
          <textarea
            {...common}
            className="mono"
            dir="ltr"
            aria-label={label}
            rows={Math.max(2, candidate.parts.split('\n').length)}
            title={t('candidate.partsHint')}
            value={candidate.parts}
            onFocus={onFocus}
            onInput={(event) => onChange({ ...candidate, parts: event.currentTarget.value })}
          />
          <label>
            {t('candidate.separator')}
            <input
              dir="ltr"
              maxLength={10}
              value={candidate.separator}
              onInput={(event) => onChange({ ...candidate, separator: event.currentTarget.value })}
            />
          </label>
        </span>
      );
    case 'other':
      return (
        <code dir="ltr" className="mapping-other" title={t('candidate.other')}>
          {JSON.stringify(candidate.value)}
        </code>
      );
  }
}
