import fc from 'fast-check';
import type { FieldMapping, OrderMapping } from '../../src/sources/mapping.ts';
import { ofTextFields } from '../../src/text-fields.ts';

/** Few names, so that pointers often lead to something. */
const NAMES = ['a', 'b', 'c', 'id', '0', '1', 'a/b', 'm~n', '', 'length', '__proto__', 'constructor', 'الهاتف'];

const leaf = fc.oneof(
  fc.string(),
  fc.constantFrom('', ' ', '2', ' 3 ', '0', '\u0000', '\ud83d', 'x'.repeat(3_000), '😀'.repeat(2_500)),
  fc.double(),
  fc.constantFrom(0, -0, 1e21, 1e-7),
  fc.boolean(),
  fc.constant(null),
);

/** Any JSON value, with the names that `arbitraryMapping` points to. */
export const arbitraryDocument = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 6, noNullPrototype: true }),
  ),
})).value;

export const arbitraryPointer = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 })
  .map((names) => names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));

const few = <Value>(values: fc.Arbitrary<Value>) => fc.array(values, { minLength: 1, maxLength: 3 });
const pointers = fc.oneof(arbitraryPointer, few(arbitraryPointer));
const scalar = fc.constantFrom('2', '', 0, true, null);
const conditions = fc.dictionary(arbitraryPointer, few(scalar), { minKeys: 1, maxKeys: 2, noNullPrototype: true });
const found = fc.record(
  { find: arbitraryPointer, where: conditions, value: arbitraryPointer },
  { noNullPrototype: true },
);
const entries = fc.record(
  { each: arbitraryPointer, label: pointers, value: pointers, except: conditions },
  { requiredKeys: ['each', 'value'], noNullPrototype: true },
);
const part = fc.oneof({ weight: 3, arbitrary: arbitraryPointer }, found);
const parts = fc.oneof({ weight: 3, arbitrary: part }, few(part), entries);
const value = fc.oneof(
  { weight: 3, arbitrary: arbitraryPointer },
  fc.record(
    { join: few(parts), separator: fc.constantFrom('', ', ', '\n'), if: conditions, except: conditions },
    { requiredKeys: ['join'], noNullPrototype: true },
  ),
  found,
  fc.record({ divide: arbitraryPointer, by_digits: fc.oneof(fc.nat(6), arbitraryPointer) }, { noNullPrototype: true }),
  fc.record(
    { constant: fc.oneof(fc.constantFrom('AED', ' '), fc.integer()), if: conditions, except: conditions },
    { requiredKeys: ['constant'], noNullPrototype: true },
  ),
);
const field: fc.Arbitrary<FieldMapping> = fc.oneof(value, few(value));
const optional = <T extends Record<string, unknown>>(
  members: { [Name in keyof T]: fc.Arbitrary<T[Name]> },
  requiredKeys: (keyof T & string)[] = [],
) => fc.record(members, { requiredKeys, noNullPrototype: true });
const countOf = (pattern: RegExp, part: object) => JSON.stringify(part).match(pattern)?.length ?? 0;
/** `readMapping` allows 30 pointers and constants for the items of a list. */
const hasFewPointers = (items: object) => countOf(/"(?:\/|constant":)/g, items) <= 30;
/** It allows 50 pointers in conditions of lists that are searched, of which there are at most two in each, and in the details below. */
const hasFewSearches = (mapping: object) => countOf(/"where":/g, mapping) <= 19;
const itemFields = { name: field, quantity: field, sku: field };

/** A mapping that `readMapping` accepts. */
export const arbitraryMapping = optional(
  {
    source_order_id: field,
    order_number: field,
    customer: optional({ name: field, phone: field, email: field, id: field }),
    address: field,
    emirate: field,
    area: field,
    items: fc.oneof(
      optional(
        { list: pointers, ...itemFields, omit_if_zero: arbitraryPointer, only: conditions, except: conditions },
        ['list'],
      ).filter(hasFewPointers),
      few(optional(itemFields).filter((item) => Object.keys(item).length > 0)),
    ),
    total: field,
    currency: field,
    ...ofTextFields(() => field),
    details: few(
      fc.oneof(
        optional({ label: fc.constantFrom('Gift', 'a: b'), value: field }, ['label', 'value']),
        optional({ each: arbitraryPointer, label: pointers, value: pointers, except: conditions }, [
          'each',
          'label',
          'value',
        ]),
      ),
    ),
  },
  ['source_order_id'],
).filter(hasFewSearches) as unknown as fc.Arbitrary<OrderMapping>;
