import type { Item } from '../order.ts';
import { isJsonObject, type JsonObject, parseJsonText } from './json-object.ts';
import { LIMITS, MAX_ITEMS } from './limits.ts';
import { readText, removeInvisible, toAsciiDigits } from './text.ts';
import { RepeatedMembers, warnOfUnknownMembers } from './unknown-members.ts';
import type { WarningList } from './warnings.ts';

/** Warnings do not repeat longer values. */
const MAX_SHOWN = 20;

/** Reads a quantity: a positive safe integer, or, with a warning, a string that spells one. Anything else becomes null. */
function readQuantity(value: unknown, pointer: string, warnings: WarningList): number | null {
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
  warnings.add(pointer, 'quantity_unreadable', quantityProblem(value));
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
  if (Array.isArray(value)) return readList(value, warnings);
  if (isJsonObject(value)) return readObject(value, warnings);
  const parsed = typeof value === 'string' ? parseJsonText(value) : undefined;
  if (parsed === undefined) return readItem(value, POINTER, warnings);
  warnings.add(POINTER, 'json_as_text');
  return warnings.readInside(POINTER, (inner) => readItems(parsed, inner));
}

/** A list in another shape: objects by number or id, or a list for each member; else a single item. */
function readObject(value: JsonObject, warnings: WarningList): Item[] {
  const values = Object.values(value);
  const isOfItems = values.length > 0 && values.every(isJsonObject);
  const rows = isOfItems ? values : rowsOf(value);
  if (rows) {
    warnings.add(POINTER, 'items_in_object');
    return warnings.readInside(POINTER, (inner) => readList(rows, inner));
  }
  warnings.add(POINTER, 'items_not_a_list');
  return readItem(value, POINTER, warnings);
}

/** The items of `{"name": ["Soup", "Bread"], "quantity": [2, 1]}`. */
function rowsOf(columns: JsonObject): JsonObject[] | undefined {
  const { name } = columns;
  const isTable =
    Array.isArray(name) &&
    Object.values(columns).every((column) => Array.isArray(column) && column.length === name.length);
  if (!isTable) return undefined;
  const entries = Object.entries(columns) as [string, unknown[]][];
  return name
    .slice(0, MAX_ITEMS + 1)
    .map((_, index) => Object.fromEntries(entries.map(([member, column]) => [member, column[index]])));
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
  if (isJsonObject(entry)) return [readMembers(entry, pointer, warnings, unknown)];
  if (typeof entry === 'string') return readNameOnly(entry, pointer, warnings);
  warnings.add(pointer, 'not_an_item');
  return [];
}

function readMembers(item: JsonObject, pointer: string, warnings: WarningList, unknown?: RepeatedMembers): Item {
  warnOfUnknownMembers(item, MEMBERS, pointer, warnings, unknown);
  return {
    name: readText(item.name, `${pointer}/name`, LIMITS.itemName, warnings),
    quantity: readQuantity(item.quantity, `${pointer}/quantity`, warnings),
    sku: readText(item.sku, `${pointer}/sku`, LIMITS.sku, warnings),
  };
}

function readNameOnly(text: string, pointer: string, warnings: WarningList): Item[] {
  const name = readText(text, pointer, LIMITS.itemName, warnings);
  if (name === null) return [];
  warnings.add(pointer, 'item_as_text');
  return [{ name, quantity: null, sku: null }];
}
