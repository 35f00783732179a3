import { isJsonObject } from './normalize/json-object.ts';
import { MAX_ITEMS } from './normalize/limits.ts';
import type { FieldError } from './problems.ts';

/** An item after an edit: a stored one by its index, or one that the edit at this pointer added. */
export type ItemOrigin = { stored: number } | { added: string };

/** The items of a payload with their origins. */
export interface EditedItems {
  items: unknown[];
  origins: ItemOrigin[];
}

const ADDED = '/items/-';
const ITEM = /^\/items\/(0|[1-9]\d{0,5})$/;

/** Whether an edit adds or removes an item: `/items/-` appends, an object inserts before the index, `null` removes. */
export function isItemEdit(pointer: string): boolean {
  return pointer === ADDED || ITEM.test(pointer);
}

/**
 * Removes items by their stored indexes, then inserts others, each so that it has its index afterwards, then appends one. Inserting the
 * removed ones and removing the added ones therefore restores the list.
 *
 * @param edits those by `isItemEdit`.
 * @returns errors for edits that are not possible.
 */
export function editItems(
  stored: readonly unknown[],
  edits: readonly [string, unknown][],
): EditedItems & { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const entries: { item: unknown; origin: ItemOrigin }[] = stored.map((item, index) => ({
    item,
    origin: { stored: index },
  }));
  const byIndex = edits
    .map(([pointer, item]) => ({
      pointer,
      item,
      index: pointer === ADDED ? Number.POSITIVE_INFINITY : indexIn(pointer),
    }))
    .toSorted((a, b) => a.index - b.index);
  for (const { pointer, item, index } of byIndex.toReversed()) {
    if (item !== null) continue;
    if (index < entries.length) entries.splice(index, 1);
    else errors.push({ pointer, code: 'not_editable', detail: 'There is no such item.' });
  }
  for (const { pointer, item, index } of byIndex) {
    if (item === null) continue;
    if (!isJsonObject(item)) errors.push({ pointer, code: 'not_an_item', detail: 'Not an item object.' });
    else if (entries.length >= MAX_ITEMS)
      errors.push({ pointer, code: 'too_many_items', detail: 'More than 1,000 items.' });
    else if (index > entries.length && pointer !== ADDED)
      errors.push({ pointer, code: 'not_editable', detail: 'There is no item before this one.' });
    else entries.splice(index, 0, { item, origin: { added: pointer } });
  }
  return { items: entries.map(({ item }) => item), origins: entries.map(({ origin }) => origin), errors };
}

function indexIn(pointer: string): number {
  return Number(ITEM.exec(pointer)?.[1]);
}
