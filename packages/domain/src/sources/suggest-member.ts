import { nearestName } from './nearest-name.ts';
import { suggestField } from './suggest-field.ts';

/** The members of a mapping, by the member that has them. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['source_order_id', 'order_number', 'customer', 'address', 'emirate', 'area', 'items', 'total', 'currency'],
    'delivery_instructions',
  ],
  customer: ['name', 'phone', 'email', 'id'],
  items: ['list', 'name', 'quantity', 'sku', 'omit_if_zero'],
};

/**
 * Suggests the member of a mapping that an unknown one probably means: one that is spelled alike, or the field that it names.
 *
 * @param path of the unknown member.
 * @returns for example `customer.phone`; null if none is likely.
 */
export function suggestMember(path: readonly (string | number)[]): string | null {
  const name = String(path.at(-1) ?? '');
  const parent = path.length === 1 ? '' : String(path[0]);
  const nearest = nearestName(name, Object.hasOwn(MEMBERS, parent) ? (MEMBERS[parent] ?? []) : []);
  if (nearest !== null) return parent === '' ? nearest : `${parent}.${nearest}`;
  return (
    suggestField(name)
      ?.slice(1)
      .replace(/\/\d+\//, '.')
      .replace('/', '.') ?? null
  );
}
