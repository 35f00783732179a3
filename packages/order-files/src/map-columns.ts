import { pointerSegments } from '@orders/domain/sources/json-pointer.ts';
import { OptionsError } from './errors.ts';
import { fieldOfHeading, type IgnoredColumns, LEAVE_OUT, quoted, requireHeadings, withSuggestion } from './headings.ts';
import { type Cells, type Table, withItems } from './order-rows.ts';

/**
 * The field of a column as path segments; null if the column is ignored, undefined if it has no heading and must be empty.
 */
type Column = readonly string[] | null | undefined;

/**
 * Reads the rows of a table by its headings, each a field (`total`) or a path to one (`customer.phone`, `items.0.name`).
 *
 * @throws {OptionsError} with the headings that match no field (unless ignored) or the same field.
 */
export function mapColumns(headings: readonly string[], { ignored, ignoreUnmapped }: IgnoredColumns): Table {
  const unmapped: string[] = [];
  const columns = headings.map((heading): Column => {
    const pointer = ignored.includes(heading) ? null : fieldOfHeading(heading);
    if (pointer === undefined && heading === '' && !ignoreUnmapped) return undefined;
    if (pointer === undefined && heading !== '') unmapped.push(heading);
    return pointer ? pointerSegments(pointer) : null;
  });
  if (unmapped.length > 0 && !ignoreUnmapped)
    throw new OptionsError(
      'options',
      `These headings lead to no field of an order: ${unmapped.map(withSuggestion).join(', ')}; map them with --map, ${LEAVE_OUT}.`,
    );
  requireHeadings(headings, ignored);
  rejectConflicts(headings, columns);
  const key = columns.findIndex((column) => column?.[0] === 'source_order_id');
  if (key < 0)
    throw new OptionsError(
      'options',
      'No column leads to source_order_id, which each order needs; name it with --map.',
    );
  const numbers = [...columns.keys()];
  return {
    headings,
    keyOf: (row) => row[key]?.trim() || null,
    itemColumns: new Set(numbers.filter((at) => columns[at]?.[0] === 'items')),
    orderColumns: numbers.filter((at) => columns[at] && columns[at]?.[0] !== 'items'),
    toOrder: (merged, rows) => withItems(merged, rows, (row) => orderOfColumns(row, columns)),
    isStray: (at) => columns[at] === undefined,
  };
}

type Parts = { [step: string]: string | number | Parts | unknown[] };

/** An empty cell is absent. All values are strings, so that no id loses digits, except quantities. */
function orderOfColumns(record: Cells, columns: readonly Column[]): Parts {
  const order: Parts = Object.create(null);
  for (const [at, column] of columns.entries()) {
    const cell = record[at] ?? '';
    if (column && cell.trim() !== '') put(order, column, cell);
  }
  if (typeof order.items === 'object') order.items = Object.values(order.items);
  return order;
}

function put(order: Parts, path: readonly string[], cell: string): void {
  let parts = order;
  for (const step of path.slice(0, -1)) {
    parts[step] ??= Object.create(null);
    parts = parts[step] as Parts;
  }
  const last = path.at(-1) as string;
  parts[last] = path[0] === 'items' && last === 'quantity' && /^\d{1,9}$/.test(cell) ? Number(cell) : cell;
}

/** Two columns must not have the same field, nor one a part of the other's. */
function rejectConflicts(headings: readonly string[], columns: readonly Column[]): void {
  const paths = columns.map((column) => (column ? `/${column.join('/')}/` : null));
  for (const [first, path] of paths.entries()) {
    const second = paths.findIndex((other, at) => at !== first && path !== null && other?.startsWith(path));
    if (second >= 0)
      throw new OptionsError(
        'options',
        `The columns ${quoted([headings[first] ?? '', headings[second] ?? ''])} lead to the same field.`,
      );
  }
}
