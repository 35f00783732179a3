import { pointerSegments } from '@orders/domain/sources/json-pointer.ts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Order } from '../../../api/review.ts';
import { FieldError } from '../../../components/field.tsx';
import { type Editing, useEditProblem, useSave } from '../edit/editing.ts';
import { payloadValue } from './find-member.ts';

/** A member that was sent, for people. */
interface Fact {
  label: string;
  value: string;
}

/** The member of a received JSON text at a pointer (RFC 6901). */
export function factAt(text: string, pointer: string): Fact {
  return { label: labelAt(text, pointer), value: payloadValue(text, pointer) ?? '' };
}

/** What a member is called: the name beside a `value` in a list of such pairs, else its own name. */
export function labelAt(text: string, pointer: string): string {
  const tokens = pointerSegments(pointer);
  const parent = pointer.slice(0, pointer.lastIndexOf('/'));
  const beside = tokens.at(-1) === 'value' ? ['label', 'name', 'key', 'title'] : [];
  const named = beside.map((name) => payloadValue(text, `${parent}/${name}`)).find(Boolean);
  const own = tokens.findLast((token) => !/^\d+$/.test(token)) ?? '';
  return named ?? own.replaceAll('_', ' ');
}

const FIELDS = ['details', 'delivery_instructions'] as const;

/** Appends a fact to the details or the instructions of an order, unless they contain it. */
export function TakeOver(props: { fact: Fact; order: Order; editing: Editing }): ReactNode {
  const { fact, order, editing } = props;
  const { t } = useTranslation('review');
  const saving = useSave(editing);
  const problem = useEditProblem()(saving.error);
  const value = fact.value.trim();
  if (!editing.begin || value === '') return null;
  const used = FIELDS.find((field) => order[field]?.includes(value));
  if (used) return <span className="hint">{t(`unknown.used.${used}`)}</span>;
  const save = (field: (typeof FIELDS)[number]) => {
    const line = field === 'details' ? `${fact.label}: ${value.replace(/\s+/g, ' ')}` : value;
    const before = order[field];
    saving.run({ [`/${field}`]: before === null ? line : `${before}\n${line}` }, { [`/${field}`]: before });
  };
  return (
    <>
      <span className="row">
        {FIELDS.map((field) => (
          <button key={field} type="button" className="quiet-chip" onClick={() => save(field)}>
            {t(`unknown.use.${field}`)}
          </button>
        ))}
      </span>
      <FieldError text={problem} />
    </>
  );
}
