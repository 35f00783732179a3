import { LIMITS, MAX_ITEMS } from '../interface-limits.ts';
import type { Item } from '../order.ts';
import { isJsonObject, type JsonObject, listIn, parseJsonText } from './json-object.ts';
import { readText, removeInvisible, toAsciiDigits } from './text.ts';
import { RepeatedMembers, WarningList, warnOfUnknownMembers } from './warnings.ts';

/** Warnings do not repeat longer values. */
const MAX_SHOWN = 20;

/**
 * Reads a quantity: a positive safe integer, or, with a warning, a string that spells one. Anything else becomes null.
 *
 * @param amount what it says instead, in the name of the item.
 */
function readQuantity(value: unknown, pointer: string, warnings: WarningList, amount: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && isQuantity(value)) return value;
  if (typeof value === 'string') {
    const text = removeInvisible(value).trim();
    if (text === '') return null;
    const spelled = spelledNumber(text);
    if (isQuantity(spelled)) {
      warnings.add(pointer, 'quantity_from_text');
      return spelled;
    }
  }
  const inName = amount && 'The quantity is not a whole number, and stands behind the name';
  warnings.add(pointer, 'quantity_unreadable', inName || quantityProblem(value));
  return null;
}

function isQuantity(number: number): boolean {
  return Number.isSafeInteger(number) && number > 0;
}

/** "2", "٢", "2.00", "x2" or "2 pcs": a number, optionally with a word for pieces. */
const SPELLED =
  /^(?:x|×|qty:?|\+)?\s?(\d+)(?:\.0*)?\s?(?:x|×|pcs?\.?|pieces?|nos?\.?|units?|packs?|boxe?s?|قطع|قطعة|حبة|حبات)?$/i;

/** NaN for anything else. */
function spelledNumber(text: string): number {
  const [, whole] = SPELLED.exec(toAsciiDigits(text)) ?? [];
  return Number(whole);
}

/** The problem with a number, which is not personal data and may be repeated; undefined for other types. */
function quantityProblem(value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const shown = String(value);
  if (shown.length > MAX_SHOWN) return undefined;
  if (!Number.isInteger(value)) return `quantity ${shown} is not a whole number`;
  return `quantity ${shown} is ${value > 0 ? 'too large' : 'not above zero'}`;
}

const POINTER = '/items';
const MEMBERS: ReadonlySet<string> = new Set(['name', 'quantity', 'sku']);

/**
 * Reads the items: a list of objects and strings, such a list in another shape or in a string, or a single one. The first 1,000 entries
 * are read; errors inside an entry never drop it.
 */
export function readItems(value: unknown, warnings: WarningList): Item[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    const [only, ...others] = value;
    const isNested = others.length === 0 && Array.isArray(only) && only.some(isJsonObject);
    return isNested ? readOtherShape(only, warnings) : readList(value, warnings);
  }
  if (isJsonObject(value)) return readObject(value, warnings);
  const parsed = typeof value === 'string' ? parseJsonText(value) : undefined;
  if (parsed === undefined) return readItem(value, POINTER, warnings);
  warnings.add(POINTER, 'json_as_text');
  return warnings.readInside(POINTER, (inner) => readItems(parsed, inner));
}

/** A list in another shape: objects by number or id, a list for each member, or a list in a member; else a single item. */
function readObject(value: JsonObject, warnings: WarningList): Item[] {
  const rows = rowsOf(value) ?? (isItem(value) ? undefined : (listIn(value) ?? onlyListIn(value)));
  if (rows) return readOtherShape(rows, warnings);
  warnings.add(POINTER, 'items_not_a_list');
  return readItem(value, POINTER, warnings);
}

function readOtherShape(rows: readonly unknown[], warnings: WarningList): Item[] {
  warnings.add(POINTER, 'items_in_object');
  return warnings.readInside(POINTER, (inner) => readList(rows, inner));
}

function isItem(value: JsonObject): boolean {
  return Object.keys(value).some((name) => MEMBERS.has(name));
}

/** The items of `{"item": […]}`, as programs write that read XML, or `{"count": 2, "results": […]}`. */
function onlyListIn(value: JsonObject): readonly unknown[] | undefined {
  const lists = Object.values(value).filter(Array.isArray);
  return lists.length === 1 && lists[0]?.some(isJsonObject) ? lists[0] : undefined;
}

/** The items of `{"name": ["Soup", "Bread"], "quantity": [2, 1]}`. It is not known to which items the values of a shorter list belong. */
function rowsOf(columns: JsonObject): JsonObject[] | undefined {
  const { name } = columns;
  if (!Array.isArray(name)) return undefined;
  const entries = Object.entries(columns);
  const valueIn = (column: unknown, index: number) =>
    Array.isArray(column) && column.length === name.length ? column[index] : [column];
  return name
    .slice(0, MAX_ITEMS + 1)
    .map((_, index) => Object.fromEntries(entries.map(([member, column]) => [member, valueIn(column, index)])));
}

/** Entries after the limit are counted but not read: a small body can hold 100,000. */
function readList(entries: readonly unknown[], warnings: WarningList): Item[] {
  const tooMany = entries.length - MAX_ITEMS;
  if (tooMany > 0) warnings.add(POINTER, 'too_many_items', `More than 1,000 items, ${tooMany} too many`);
  const unknown = new RepeatedMembers();
  const items = entries
    .slice(0, MAX_ITEMS)
    .flatMap((entry, index) => readItem(entry, `${POINTER}/${index}`, warnings, unknown));
  if (unknown.omitted > 0) {
    const problem = `${unknown.omitted} more members of items are not fields of this interface`;
    warnings.add(POINTER, 'unknown_field', problem);
  }
  return items;
}

/** One item, or none if there is nothing to read. */
function readItem(entry: unknown, pointer: string, warnings: WarningList, unknown?: RepeatedMembers): Item[] {
  if (isJsonObject(entry)) {
    const inner = itemIn(entry);
    if (!inner) return [readMembers(entry, pointer, warnings, unknown)];
    warnings.add(pointer, 'items_in_object');
    return [warnings.readInside(pointer, (warned) => readMembers(inner, pointer, warned))];
  }
  if (typeof entry === 'string') return readTextItem(entry, pointer, warnings);
  warnings.add(pointer, 'not_an_item');
  return [];
}

/** What GraphQL, XML and workflow tools wrap each entry of a list in. */
const WRAPPER = /^(?:node|json|data|attributes|(?:line_?|order_?)?item)$/i;

function itemIn(entry: JsonObject): JsonObject | undefined {
  const [only, ...others] = Object.entries(entry);
  return only && others.length === 0 && WRAPPER.test(only[0]) && isJsonObject(only[1]) ? only[1] : undefined;
}

function readTextItem(text: string, pointer: string, warnings: WarningList): Item[] {
  const parsed = parseJsonText(text);
  if (!isJsonObject(parsed) || !isItem(parsed)) return readNameOnly(text, pointer, warnings);
  warnings.add(pointer, 'json_as_text');
  return [warnings.readInside(pointer, (warned) => readMembers(parsed, pointer, warned))];
}

function readMembers(item: JsonObject, pointer: string, warnings: WarningList, unknown?: RepeatedMembers): Item {
  warnOfUnknownMembers(item, MEMBERS, pointer, warnings, unknown);
  const amount = amountIn(item.quantity);
  const suffix = amount && ` × ${amount}`;
  const name = readText(item.name, `${pointer}/name`, LIMITS.itemName - [...suffix].length, warnings);
  const quantity = readQuantity(item.quantity, `${pointer}/quantity`, warnings, amount);
  const sku = readText(item.sku, `${pointer}/sku`, LIMITS.sku, warnings);
  return { name: name === null && sku === null ? null : `${name ?? ''}${suffix}`.trim() || null, quantity, sku };
}

/** Longer texts are no amount. */
const MAX_AMOUNT = 50;

/**
 * A quantity such as "0.65 kg", which stands behind the name of the item, so that whoever packs it sees it; else an empty text. A number is
 * a count, but a source sends a text if it is not whole.
 */
function amountIn(quantity: unknown): string {
  if (typeof quantity !== 'string') return '';
  const text = readText(removeInvisible(quantity), '', MAX_AMOUNT, new WarningList());
  if (text === null || isQuantity(spelledNumber(text))) return '';
  return /^[^-−]*(?!0)\p{N}/u.test(toAsciiDigits(text)) ? text : '';
}

function readNameOnly(text: string, pointer: string, warnings: WarningList): Item[] {
  const name = readText(text, pointer, LIMITS.itemName, warnings);
  if (name === null) return [];
  warnings.add(pointer, 'item_as_text');
  return [{ name, quantity: null, sku: null }];
}
