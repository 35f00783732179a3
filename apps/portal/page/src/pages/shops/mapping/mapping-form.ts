import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';
import type { OrderMapping } from '../../../api/sources.ts';

type Mapped = string | { join: (string | string[])[]; separator?: string } | { constant: string | number };

/** One possible value of a field, as edited. */
export type Candidate =
  | { kind: 'pointer'; pointer: string }
  /** One part a line; alternatives of a part are separated by ` | `. */
  | { kind: 'join'; parts: string; separator: string }
  | { kind: 'constant'; constant: string | number }
  /** What the form cannot show; only the JSON view edits it. */
  | { kind: 'other'; value: unknown };

/** The fields of a mapping in the order shown; members of objects after a slash. */
export const FIELDS = [
  'source_order_id',
  'order_number',
  'customer/name',
  'customer/phone',
  'customer/email',
  'customer/id',
  'address',
  'emirate',
  'area',
  'items/list',
  'items/name',
  'items/quantity',
  'items/sku',
  'items/omit_if_zero',
  'items/only',
  'items/except',
  'total',
  'currency',
  ...TEXT_FIELD_NAMES,
] as const;
export type FieldName = (typeof FIELDS)[number];

export type MappingForm = Record<FieldName, Candidate[]> & {
  /** A mapping of each item by itself, which only the JSON view edits. */
  numberedItems: unknown[] | null;
};

/** The field to which a pointer into an order or a mapping leads; that of a whole object is its first one. */
export function fieldOf(pointer: string): FieldName | null {
  const path = pointer.slice(1).replace(/^items\/\d+/, 'items');
  const isIn = (field: string) => path === field || path.startsWith(`${field}/`);
  return FIELDS.find(isIn) ?? FIELDS.find((field) => field.startsWith(`${path}/`)) ?? null;
}

/** Fields that take pointers only. */
export function takesPointersOnly(field: FieldName): boolean {
  return field === 'items/list' || field === 'items/omit_if_zero';
}

/** Fields that only the JSON view edits: conditions, and details. */
export function isInJsonOnly(field: FieldName): boolean {
  return field === 'items/only' || field === 'items/except' || field === 'details';
}

/** Fields that the form has no use for are left out. */
export function isShown(form: MappingForm, field: FieldName): boolean {
  if (form.numberedItems && field.startsWith('items/')) return false;
  return !isInJsonOnly(field) || form[field].length > 0;
}

/** A mapping as edited: in the form, or as JSON that may be broken. */
export type Edited = { form: MappingForm; json?: undefined } | { form?: undefined; json: string };

/** A draft as it was stored. */
export function readEdited(text: string): Edited {
  const { form, json } = JSON.parse(text) as Edited;
  // By another version of the page, it may have other fields.
  return form ? { form: { ...formOf({} as OrderMapping), ...form } } : { json };
}

/** A saved mapping before it is edited. */
export function unedited(saved: MappingForm, view: 'form' | 'json'): Edited {
  return view === 'form' ? { form: saved } : { json: JSON.stringify(mappingOf(saved), null, 2) };
}

/** The mapping as edited; null if it is not JSON of an object. */
export function mappingIn({ form, json }: Edited): Record<string, unknown> | null {
  if (form) return mappingOf(form);
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Whether what was edited is what is saved now. */
export function isSameMapping(edited: Edited, saved: OrderMapping): boolean {
  const mapping = mappingIn(edited) as OrderMapping | null;
  return mapping !== null && JSON.stringify(formOf(mapping)) === JSON.stringify(formOf(saved));
}

/** A mapping in the form. */
export function formOf(mapping: OrderMapping): MappingForm {
  const entries = FIELDS.map((field) => {
    const [name = '', member] = field.split('/');
    const at = (mapping as unknown as Record<string, unknown>)[name];
    const value = member === undefined ? at : (at as Record<string, unknown> | undefined)?.[member];
    const values = value === undefined ? [] : Array.isArray(value) ? value : [value];
    return [field, values.map(candidateOf)];
  });
  const numberedItems = Array.isArray(mapping.items) ? mapping.items : null;
  return { ...Object.fromEntries(entries), numberedItems } as MappingForm;
}

/** Whether the form has a place for each member of a mapping. */
export function fitsForm(mapping: Record<string, unknown>): boolean {
  const names = Object.entries(mapping).flatMap(([name, value]) => {
    if (name === 'items' && Array.isArray(value)) return [];
    const isObject = typeof value === 'object' && value !== null && (name === 'customer' || name === 'items');
    return isObject ? Object.keys(value).map((member) => `${name}/${member}`) : [name];
  });
  return names.every((name) => (FIELDS as readonly string[]).includes(name));
}

/** The mapping that a form describes. Empty candidates are left out. It may still break rules. */
export function mappingOf(form: MappingForm): Record<string, unknown> {
  const mapping: Record<string, unknown> = {};
  for (const field of FIELDS) {
    const values = form[field].map(toValue).filter((value) => value !== undefined);
    if (values.length === 0) continue;
    const [name = '', member] = field.split('/');
    const value = values.length === 1 && field !== 'details' ? values[0] : values;
    if (member === undefined) mapping[name] = value;
    else mapping[name] = { ...(mapping[name] as object | undefined), [member]: value };
  }
  if (form.numberedItems) mapping.items = form.numberedItems;
  return mapping;
}

function candidateOf(value: unknown): Candidate {
  const candidate = readCandidate(value);
  return candidate && JSON.stringify(toValue(candidate)) === JSON.stringify(value)
    ? candidate
    : { kind: 'other', value };
}

function readCandidate(value: unknown): Candidate | null {
  if (typeof value === 'string') return { kind: 'pointer', pointer: value };
  if (typeof value !== 'object' || value === null) return null;
  const mapped = value as Exclude<Mapped, string>;
  if ('constant' in mapped) return { kind: 'constant', constant: mapped.constant };
  if (!Array.isArray(mapped.join)) return null;
  const parts = mapped.join.map((part) => (Array.isArray(part) ? part.join(' | ') : part)).join('\n');
  return { kind: 'join', parts, separator: mapped.separator ?? ' ' };
}

function toValue(candidate: Candidate): unknown {
  switch (candidate.kind) {
    case 'pointer':
      return candidate.pointer === '' ? undefined : candidate.pointer;
    case 'constant':
      return candidate.constant === '' ? undefined : { constant: candidate.constant };
    case 'join': {
      const join = candidate.parts
        .split('\n')
        .filter((part) => part !== '')
        .map((part) => (part.includes(' | ') ? part.split(' | ') : part));
      if (join.length === 0) return undefined;
      return { join, ...(candidate.separator !== ' ' && { separator: candidate.separator }) };
    }
    case 'other':
      return candidate.value;
  }
}

/**
 * A pointer of the delivery as a field takes it: that of the list of items without what is inside it, those of an item from the item on.
 *
 * @returns null if the field cannot take it.
 */
export function pointerFor(form: MappingForm, field: FieldName, pointer: string): string | null {
  if (field === 'items/list') return /^(.*?)\/\d+(?:\/|$)/.exec(pointer)?.[1] || pointer;
  if (!field.startsWith('items/')) return pointer;
  for (const list of form['items/list']) {
    if (list.kind !== 'pointer' || !pointer.startsWith(`${list.pointer}/`)) continue;
    const inside = /^\/\d+(\/.+)$/.exec(pointer.slice(list.pointer.length))?.[1];
    if (inside !== undefined) return inside;
  }
  return null;
}

/** A candidate with a pointer put in: instead of another pointer, or as the next part. */
export function insertPointer(candidate: Candidate, pointer: string): Candidate {
  if (candidate.kind === 'pointer') return { ...candidate, pointer };
  if (candidate.kind !== 'join') return candidate;
  const parts = candidate.parts.replace(/\n$/, '');
  return { ...candidate, parts: parts === '' ? pointer : `${parts}\n${pointer}` };
}
