import { applyEdits, type ItemOrigin, isItemEdit, MAX_ERRORS, type OrderEdits } from './apply-edits.ts';
import { compareOrders, type Difference } from './compare-orders.ts';
import { MAX_ITEMS } from './interface-limits.ts';
import { WARNINGS, type Warning } from './normalize/warnings.ts';
import { normalizeOrder } from './normalize-order.ts';
import type { Item, NormalizedOrder, Order } from './order.ts';
import type { FieldError } from './problems.ts';

/** Errors for those warnings of an edit that are a reason to reject it: the reviewer who typed the value can correct it at once. */
function toRejections(warnings: readonly Warning[]): FieldError[] {
  return warnings
    .filter(({ code }) => WARNINGS[code][2] === 'retype')
    .map(({ pointer, code }) => ({ pointer, code, detail: `${WARNINGS[code][0]}.` }));
}

/** A field that an edit changed, with the stored values. */
export type OrderChange = { pointer: string; before: unknown; after: unknown };

type EditedOrder = NormalizedOrder & {
  /** They include side effects: an address can imply the emirate, a total the currency. */
  changes: OrderChange[];
  /** The edits that restore the order; warnings about edited fields are not restored. */
  undo: OrderEdits;
  /** Edits with values that were lost or not understood, by the pointers of the edits. */
  rejections: FieldError[];
};

/**
 * Edits a stored order. New values are normalized like a payload and leave warnings; old warnings about edited fields are removed, others
 * stay. Items after the 1,000th, from before items were limited, are kept unless `/items` as a whole is edited; they cannot be edited
 * individually, and no item can be added or removed then.
 *
 * @throws {Problem} `invalid_request` with each pointer that is not an editable field of this order.
 */
export function editOrder(stored: NormalizedOrder, edits: OrderEdits): EditedOrder {
  const payload = toPayload(stored.order);
  const previous = new Set(normalizeOrder(payload).warnings.map(toKey));
  const origins = applyEdits(payload, edits, stored.order.items.length);
  const edited = normalizeOrder(payload);
  const unreadItems = '/items' in edits ? [] : stored.order.items.slice(MAX_ITEMS);
  const order = { ...edited.order, items: edited.order.items.concat(unreadItems) };

  const toEdit = editFinder(edits, origins);
  const kept = stored.warnings.flatMap((warning) => keepWarning(warning, stored.warnings, edits, origins));
  const keptKeys = new Set(kept.map(toKey));
  // Values that are stored as sent because they are unreadable give the same warnings on each normalization; these are not new.
  const fresh = edited.warnings.filter(
    (warning) => (toEdit(warning.pointer) !== null || !previous.has(toKey(warning))) && !keptKeys.has(toKey(warning)),
  );
  const ofEdits = edited.warnings.flatMap((warning) => {
    const pointer = toEdit(warning.pointer);
    return pointer === null ? [] : [{ ...warning, pointer }];
  });
  return {
    order,
    warnings: [...kept, ...fresh],
    changes: compareOrders(stored.order, order).map(toChange),
    undo: undoEdits(stored.order, order, origins),
    rejections: toRejections(ofEdits).slice(0, MAX_ERRORS),
  };
}

/** Finds, for a pointer into the edited order, the pointer with which the edit named it; null if it was not edited. */
function editFinder(edits: OrderEdits, origins: readonly ItemOrigin[] | null): (pointer: string) => string | null {
  const pointers = Object.keys(edits);
  return (pointer) => {
    const [, index, rest = ''] = /^\/items\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
    const origin = index === undefined ? undefined : origins?.[Number(index)];
    if (origin && 'added' in origin) return `${origin.added}${rest}`;
    const named = origin ? `/items/${origin.stored}${rest}` : pointer;
    return pointers.some((edited) => !isItemEdit(edited) && isWithin(named, edited)) ? named : null;
  };
}

function toChange({ pointer, from, to }: Difference): OrderChange {
  return { pointer, before: from, after: to };
}

function toKey({ pointer, code }: Warning): string {
  return `${code} ${pointer}`;
}

function toPayload(order: Order): Record<string, unknown> & { items: unknown } {
  const { emirate_code: _, ...payload } = order;
  return structuredClone({ ...payload, items: payload.items.slice(0, MAX_ITEMS) });
}

/**
 * The edits that restore an order.
 *
 * @param origins of the items after the edit; null if all items were edited as one field.
 */
function undoEdits(before: Order, after: Order, origins: readonly ItemOrigin[] | null): OrderEdits {
  const undo: OrderEdits = {};
  for (const { pointer, from } of compareOrders({ ...before, items: [] }, { ...after, items: [] })) {
    // The code follows from the name.
    if (pointer === '/emirate_code') undo['/emirate'] = before.emirate;
    else undo[pointer] = from;
  }
  return {
    ...undo,
    ...(origins ? undoItems(before.items, after.items, origins) : allItems(before.items, after.items)),
  };
}

function allItems(before: readonly Item[], after: readonly Item[]): OrderEdits {
  const isSame = JSON.stringify(before) === JSON.stringify(after);
  return isSame ? {} : { '/items': before.slice(0, MAX_ITEMS) };
}

function undoItems(before: readonly Item[], after: readonly Item[], origins: readonly ItemOrigin[]): OrderEdits {
  const undo: OrderEdits = {};
  const kept = new Set<number>();
  for (const [index, origin] of origins.entries()) {
    if ('added' in origin) {
      undo[`/items/${index}`] = null;
      continue;
    }
    kept.add(origin.stored);
    for (const member of ['name', 'quantity', 'sku'] as const) {
      const value = before[origin.stored]?.[member];
      if (value !== after[index]?.[member]) undo[`/items/${index}/${member}`] = value;
    }
  }
  for (const [index, item] of before.slice(0, MAX_ITEMS).entries()) {
    if (kept.has(index)) continue;
    // One was removed and another one added at its index, which one edit cannot say.
    if (`/items/${index}` in undo) return allItems(before, after);
    undo[`/items/${index}`] = item;
  }
  return undo;
}

function isWithin(pointer: string, parent: string): boolean {
  return pointer === parent || pointer.startsWith(`${parent}/`);
}

/** The warning as it is kept, if its field was not edited or removed. Its pointer moves with its item. */
function keepWarning(
  warning: Warning,
  all: readonly Warning[],
  edits: OrderEdits,
  origins: readonly ItemOrigin[] | null,
): Warning[] {
  const subjects = subjectsOf(warning, all);
  const isEdited = (pointer: string) =>
    Object.entries(edits).some(
      ([edited, value]) => isWithin(pointer, edited) && (!isItemEdit(edited) || value === null),
    );
  if (subjects.some(isEdited)) return [];
  const [, sent, rest = ''] = /^\/items\/(\d+)(\/.*)?$/.exec(warning.pointer) ?? [];
  const [, index] = /^\/items\/(\d+)/.exec(subjects[0] ?? '') ?? [];
  if (sent === undefined || index === undefined || warning.code === 'not_an_item') return [warning];
  const position = origins?.findIndex((origin) => 'stored' in origin && origin.stored === Number(index)) ?? -1;
  return [
    position === -1 ? warning : { ...warning, pointer: `/items/${Number(sent) + position - Number(index)}${rest}` },
  ];
}

/**
 * Pointers of the stored fields that a warning is about. Warnings point into the payload as sent, where the customer may be a list or a
 * string, items may be a single item, and the list may contain entries that are not items.
 */
function subjectsOf({ pointer, code }: Warning, all: readonly Warning[]): string[] {
  switch (code) {
    case 'inferred':
      return ['/emirate'];
    case 'emirate_contradicted':
      return ['/emirate', '/area', '/address'];
    case 'currency_conflict':
      return ['/currency', '/total'];
    case 'customer_as_text':
      return ['/customer/name'];
    case 'item_as_text':
      return [`${toStoredItem(pointer, all)}/name`];
    default:
      return [toStoredItem(pointer.replace(/^\/customer\/0(?=\/)/, '/customer'), all)];
  }
}

function toStoredItem(pointer: string, all: readonly Warning[]): string {
  const [, single] = /^\/items(?:\/(name|quantity|sku))?$/.exec(pointer) ?? [];
  if (single) return `/items/0/${single}`;
  const [, index, rest = ''] = /^\/items\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
  if (index === undefined) return pointer;
  const isBefore = (other: Warning) => other.code === 'not_an_item' && Number(other.pointer.slice(7)) < Number(index);
  return `/items/${Number(index) - all.filter(isBefore).length}${rest}`;
}
