import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { recognizeExport } from '@orders/domain/sources/shop-exports.ts';
import { OptionsError } from './errors.ts';
import type { IgnoredColumns } from './headings.ts';
import { mapColumns } from './map-columns.ts';
import { type ExportTable, mapExport, mapRows } from './map-rows.ts';
import { type Cells, type OrderRows, type Row, startOrder, type Table } from './order-rows.ts';
import { type ReadOrder, unsendable } from './read-order.ts';

export interface TableOptions extends IgnoredColumns {
  /** Null if the headings are fields, or those of a shop's export. */
  mapping: OrderMapping | null;
}

/** What a table is, and what of it is no order. */
export interface TableFacts {
  /** The name of the shop's export; null if it is none. */
  recognized: string | null;
  /** Orders of the export that have nothing to deliver: drafts and the like are ignored. */
  left_out: { cancelled: number; finished: number; ignored: number };
}

/** The facts of a table that is not read yet. */
export function unreadFacts(): TableFacts {
  return { recognized: null, left_out: { cancelled: 0, finished: 0, ignored: 0 } };
}

/**
 * Reads the orders of a table, whose first row has the headings; skips empty rows. Rows of one order that follow each other are one order.
 * Only its rows, and the ids of the orders before it, are in memory.
 */
export async function* readTable(
  rows: AsyncIterable<Row>,
  options: TableOptions,
  facts: TableFacts,
): AsyncGenerator<ReadOrder> {
  let table: Table | ExportTable | null = null;
  let order: OrderRows | null = null;
  const firstLines = new Map<string, number>();
  for await (const row of rows) {
    if (!table) {
      table = openTable(row.cells, options, facts);
      continue;
    }
    if (row.cells.every((cell) => cell.trim() === '')) continue;
    const key = table.keyOf(row.cells);
    if (order && isOf(order, row.cells, key, table)) {
      order.add(row);
      continue;
    }
    if (order) yield* finish(order, table);
    order = startOrder(row, key, table);
  }
  if (!table) throw new OptionsError('no_headings', 'There is no line of headings.');
  if (order) yield* finish(order, table);

  function* finish(rows: OrderRows, table: Table | ExportTable): Generator<ReadOrder> {
    const { key, line, merged } = rows;
    const firstLine = key === null ? undefined : firstLines.get(key);
    if (key !== null && firstLine === undefined && table.itemColumns.size > 0) firstLines.set(key, line);
    const kind = 'kindOf' in table ? table.kindOf(merged) : 'order';
    if (kind === 'cancellation') facts.left_out.cancelled += 1;
    else if (kind === 'finished') facts.left_out.finished += 1;
    else if (kind === 'ignored') facts.left_out.ignored += 1;
    else yield orderOf(rows, table, firstLine);
  }
}

function openTable(cells: readonly string[], options: TableOptions, facts: TableFacts): Table | ExportTable {
  const headings = cells.map((heading) => heading.trim());
  if (options.mapping) return mapRows(headings, options.mapping, options);
  const shop = recognizeExport(headings);
  if (!shop) return mapColumns(headings, options);
  facts.recognized = shop.name;
  return mapExport(headings, shop, options);
}

/** A row without a key that has nothing but items is of the order above it, as programs leave out what they have said. */
function isOf({ key }: OrderRows, row: Cells, next: string | null, { itemColumns, orderColumns }: Table): boolean {
  if (itemColumns.size === 0 || key === null) return false;
  if (next !== null) return next === key;
  return orderColumns.length > 1 && orderColumns.every((at) => (row[at] ?? '').trim() === '');
}

/** @param firstLine of an order above with the same key, if there is one. */
function orderOf(rows: OrderRows, table: Table, firstLine: number | undefined): ReadOrder {
  const { line, merged, contradictions } = rows;
  const order = table.toOrder(merged, rows.cells());
  const sourceOrderId = typeof order.source_order_id === 'string' ? order.source_order_id : null;
  const location = { line, end: rows.end() };
  const fault = rows.fault();
  if (fault !== null) return unsendable(location, fault, sourceOrderId);
  if (firstLine !== undefined) {
    const detail = `An order at line ${firstLine} has this id, too, with others between them. Sort the table by the id, so that all rows of an order follow each other; if it is another order, give it an id of its own.`;
    return { ...unsendable(location, '', sourceOrderId), rejection: { status: 400, code: 'rows_apart', detail } };
  }
  return {
    ...location,
    text: JSON.stringify(order),
    sourceOrderId,
    ...(contradictions.length > 0 && { contradictions }),
  };
}
