import type { OrderEdits } from './apply-edits.ts';
import { type ItemOrigin, isItemEdit } from './edit-items.ts';
import type { Warning } from './normalize/warnings.ts';

export function isWithin(pointer: string, parent: string): boolean {
  return pointer === parent || pointer.startsWith(`${parent}/`);
}

/** The warning as it is kept, if its field was not edited or removed. Its pointer moves with its item. */
export function keepWarning(
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
