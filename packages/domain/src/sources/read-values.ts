import Big from 'big.js';
import { listIn } from '../normalize/json-object.ts';
import { meansNothing, toDecimalText } from '../normalize/text.ts';
import { pointerSegments, valueAtSegments } from './json-pointer.ts';
import type {
  Conditional,
  Conditions,
  ConstantValue,
  DividedValue,
  EntriesValue,
  FieldMapping,
  FoundValue,
  JoinedValue,
  MappedValue,
} from './mapping.ts';

/** Null: a pointer leads to `null` or a blank text. Undefined: none leads anywhere. */
type Present = string | number | null | undefined;
/** What a part of a mapping reads from a document; pointers are split once for each mapping, not for each delivery. */
export type Reader<Value> = (document: unknown) => Value;

/** The value of a field: the first one that is present. @param maxText in UTF-16 units; the rest of a text is cut. */
export function fieldReader(from: FieldMapping, maxText: number): Reader<Present> {
  return firstPresent((isList(from) ? from : [from]).map((value) => valueReader(value, maxText)));
}

/** Like `Array.isArray`, which does not narrow readonly lists. */
export function isList<Value>(from: Value | readonly Value[]): from is readonly Value[] {
  return Array.isArray(from);
}

function firstPresent(readers: readonly Reader<Present>[]): Reader<Present> {
  return (document) => {
    let empty: null | undefined;
    for (const read of readers) {
      const value = read(document);
      if (value !== undefined && value !== null) return value;
      if (value === null) empty = null;
    }
    return empty;
  };
}

function valueReader(from: MappedValue, maxText: number): Reader<Present> {
  if (typeof from === 'string') {
    const segments = pointerSegments(from);
    return (document) => presentValue(valueAtSegments(document, segments), maxText);
  }
  if (isConstant(from)) {
    const value = presentValue(from.constant, maxText);
    return under(from, () => value);
  }
  if ('find' in from) return finder(from, maxText);
  if ('divide' in from) return divider(from);
  return joiner(from, maxText);
}

function joiner(from: JoinedValue, maxText: number): Reader<Present> {
  const { join, separator = ' ' } = from;
  const parts = join.map((part: Part) =>
    isEntries(part) ? entriesPrinter(part, separator, maxText) : fieldReader(part, maxText),
  );
  return under(from, (document) => {
    const texts: string[] = [];
    let isEmpty = false;
    for (const read of parts) {
      const value = read(document, texts);
      if (typeof value === 'number') texts.push(toText(value));
      else if (typeof value === 'string' && !meansNothing(value)) texts.push(value);
      else isEmpty ||= value !== undefined;
    }
    if (texts.length === 0) return isEmpty ? null : undefined;
    return presentValue(texts.join(separator), maxText);
  });
}

/** Absent unless the conditions of the value hold. */
function under({ if: conditions = {}, except }: Conditional, read: Reader<Present>): Reader<Present> {
  const [meets, isException] = [conditionsReader(conditions), exceptionReader(except)];
  return (document) => (meets(document) && !isException(document) ? read(document) : undefined);
}

type Part = JoinedValue['join'][number];

export function isEntries(part: Part): part is EntriesValue {
  return typeof part === 'object' && 'each' in part;
}

/** What a platform puts between the name of a product and the values of its variant. */
const BETWEEN_OPTIONS = / - |, /;

/** Entries in one text, without those whose value stands at the end of the texts before, as the name of a variant has it. */
function entriesPrinter(from: EntriesValue, separator: string, maxText: number) {
  const read = entriesReader(from, maxText);
  return (document: unknown, before: readonly string[]): string | undefined => {
    const known = new Set(before.flatMap((text) => text.split(BETWEEN_OPTIONS).slice(1)));
    let printed = '';
    for (const { label, value } of read(document)) {
      if (meansNothing(value) || known.has(value)) continue;
      printed += `${printed && separator}${label && `${label}: `}${value}`;
      if (printed.length > maxText) break;
    }
    return printed || undefined;
  };
}

/** An entry of a list; the label is empty without one. */
export interface Entry {
  label: string;
  value: string;
}

/** Reads, one by one, the entries of a list that have a value and are not for programs, of at most its first 1,000. */
export function entriesReader({ each, label = [], value, except }: EntriesValue, maxText: number) {
  const list = pointerSegments(each);
  const [readLabel, readValue] = [fieldReader(label, maxText), fieldReader(value, maxText)];
  const isException = exceptionReader(except);
  return function* read(document: unknown): Generator<Entry> {
    for (const entry of searchedAt(document, each, list)?.entries ?? []) {
      const found = toText(readLabel(entry) ?? '');
      if (found.startsWith('_') || isException(entry)) continue;
      const text = readValue(entry);
      if (text !== undefined && text !== null) yield { label: found, value: toText(text) };
    }
  };
}

/** Whether an entry meets one of the conditions. */
export function exceptionReader(except: Conditions | undefined): Reader<boolean> {
  const exceptions = Object.entries(except ?? {}).map(([pointer, values]) => conditionsReader({ [pointer]: values }));
  return (entry) => exceptions.some((isException) => isException(entry));
}

/** A number, or a string that is not blank; `null` and blank strings are empty, other values absent. Cut first: of a long string, only the start is searched. */
function presentValue(value: unknown, maxText: number): Present {
  // -0 becomes 0, as in JSON.
  if (typeof value === 'number') return value + 0;
  if (typeof value !== 'string') return value === null ? null : undefined;
  const text = value.slice(0, maxText);
  return text.trim() === '' ? null : text;
}

export function isConstant(from: MappedValue): from is ConstantValue {
  return typeof from === 'object' && 'constant' in from;
}

/** Without an exponent, which platforms do not write. */
export function toText(value: string | number): string {
  return typeof value === 'number' ? (toDecimalText(value) ?? String(value)) : value;
}

/** Max entries of a list that are searched, to bound the time. */
const MAX_SEARCHED = 1_000;

function finder({ find, where, value }: FoundValue, maxText: number): Reader<Present> {
  const [path, inEntry] = [pointerSegments(find), pointerSegments(value)];
  const conditions = splitConditions(where);
  return (document) => {
    const list = searchedAt(document, find, path);
    if (!list) return undefined;
    const columns = conditions.map((condition) => [condition.texts, columnOf(list, condition)] as const);
    let empty: null | undefined;
    for (const [at, entry] of list.entries.entries()) {
      if (!columns.every(([texts, column]) => texts.has(column[at] as string))) continue;
      const found = presentValue(valueAtSegments(entry, inEntry), maxText);
      if (found !== undefined && found !== null) return found;
      if (found === null) empty = null;
    }
    return empty;
  };
}

/** A list with the texts of its entries by the pointers of conditions: each is read once, however many values search for it. */
interface SearchedList {
  entries: readonly unknown[];
  columns: Map<string, readonly string[]>;
}

/** The searched lists of each document by their pointer. */
const searched = new WeakMap<object, Map<string, SearchedList | null>>();

function searchedAt(document: unknown, pointer: string, segments: readonly string[]): SearchedList | null {
  if (typeof document !== 'object' || document === null) return null;
  const lists = searched.get(document) ?? new Map<string, SearchedList | null>();
  searched.set(document, lists);
  const known = lists.get(pointer);
  if (known !== undefined) return known;
  const entries = listIn(valueAtSegments(document, segments))?.slice(0, MAX_SEARCHED);
  const list = entries ? { entries, columns: new Map() } : null;
  lists.set(pointer, list);
  return list;
}

function columnOf({ entries, columns }: SearchedList, { pointer, segments }: Condition): readonly string[] {
  const column = columns.get(pointer) ?? entries.map((entry) => comparable(valueAtSegments(entry, segments)));
  columns.set(pointer, column);
  return column;
}

/** Exact. Undefined if the amount is no plain number, or there is no number of digits from 0 to 6. */
function divider({ divide, by_digits }: DividedValue): Reader<Present> {
  const amountAt = pointerSegments(divide);
  const digitsAt = typeof by_digits === 'string' ? pointerSegments(by_digits) : null;
  return (document) => {
    const amount = presentValue(valueAtSegments(document, amountAt), MAX_COMPARED);
    const digits = digitsAt ? comparable(valueAtSegments(document, digitsAt)) : String(by_digits);
    if (amount === null || amount === undefined) return amount;
    const text = toText(amount).trim();
    if (!/^-?\d{1,30}(?:\.\d{1,10})?$/.test(text) || !/^[0-6]$/.test(digits)) return undefined;
    return new Big(text).div(10 ** Number(digits)).toFixed(Number(digits) + (text.split('.')[1]?.length ?? 0));
  };
}

interface Condition {
  pointer: string;
  segments: readonly string[];
  texts: ReadonlySet<string>;
}

function splitConditions(conditions: Conditions): Condition[] {
  return Object.entries(conditions).map(([pointer, values]) => ({
    pointer,
    segments: pointerSegments(pointer),
    texts: new Set(values.map((value) => comparable(value))),
  }));
}

/** Whether a document meets all conditions. */
export function conditionsReader(conditions: Conditions): Reader<boolean> {
  const read = splitConditions(conditions);
  return (document) => read.every(({ segments, texts }) => texts.has(comparable(valueAtSegments(document, segments))));
}

/** A scalar as text, without regard to case; an empty text for what is absent, `null`, or no scalar. */
export function comparable(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_COMPARED).trim().toLowerCase();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

const MAX_COMPARED = 200;
