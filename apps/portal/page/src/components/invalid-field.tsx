import type { TFunction } from 'i18next';
import { createContext, useContext } from 'react';

/** The first field of a form that is not valid, and why, after somebody tried to submit it. */
export interface InvalidField {
  id: string;
  text: string;
  label: string;
  /** Whether the field says it itself, as those of `field.tsx` do. */
  isExplained: boolean;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The field of the form around it that is not valid; null if all are. */
export const InvalidFieldContext = createContext<InvalidField | null>(null);

/** Why the field with this id is not valid; null if it is. */
export function useInvalidText(id: string): string | null {
  const invalid = useContext(InvalidFieldContext);
  return invalid?.id === id ? invalid.text : null;
}

/** The first field of a form that is not valid, in the language of the page: browsers say it in theirs. */
export function findInvalid(form: HTMLFormElement, t: TFunction): { control: Control; invalid: InvalidField } | null {
  const control = [...form.elements].find(
    (element): element is Control =>
      'validity' in element && !(element as Control).validity.valid && element.matches('input, select, textarea'),
  );
  if (!control) return null;
  return {
    control,
    invalid: {
      id: control.id,
      text: textOf(control, t),
      label: labelOf(control),
      isExplained: 'explained' in control.dataset,
    },
  };
}

function labelOf(control: Control): string {
  const group = control.type === 'radio' ? control.closest('fieldset')?.querySelector('legend') : null;
  return (group ?? control.labels?.[0])?.textContent?.trim() || control.ariaLabel || '';
}

function textOf(control: Control, t: TFunction): string {
  const { validity, type } = control;
  if (validity.valueMissing)
    return t(['select-one', 'radio', 'checkbox'].includes(type) ? 'field.choose' : 'field.missing');
  if (validity.typeMismatch) return t(type === 'email' ? 'field.email' : 'field.url');
  if (validity.tooShort && 'minLength' in control) return t('field.tooShort', { min: control.minLength });
  return t('field.invalid');
}
