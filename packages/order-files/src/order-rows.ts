import { MAX_ITEMS } from '@orders/domain/interface-limits.ts';
import { type Contradiction, MAX_ORDER_BYTES } from './read-order.ts';

/** The cells of a row. */
export type Cells = readonly string[];

/** A row of a table. */
export interface Row {
  cells: Cells;
  /** Of its start, from 1. */
  line: number;
  /** Bytes of the input up to its end, for the progress. */
  end: number;
}

/** How a table is read. */
export interface Table {
  headings: readonly string[];
  /** What rows of one order have in common; null if the row has none. */
  keyOf(row: Cells): string | null;
  /** Columns of the items; without any, each row is an order of its own. */
  itemColumns: ReadonlySet<number>;
  /** Columns that say the same in all rows of an order. */
  orderColumns: readonly number[];
  /** @param merged the cells of the order, from the first row that has them. */
  toOrder(merged: Cells, rows: readonly Cells[]): Record<string, unknown>;
  /** Whether a column has no heading, so that its cells must be empty. */
  isStray(at: number): boolean;
}

/** The order of the merged cells, with the items of all rows. */
export function withItems(
  merged: Cells,
  rows: readonly Cells[],
  read: (row: Cells) => Record<string, unknown>,
): Record<string, unknown> {
  const order = read(merged);
  if (rows.length < 2) return order;
  const items = rows.flatMap((row) => read(row).items ?? []);
  return { ...order, ...(items.length > 0 && { items }) };
}

/** A longer list would only hide the first ones. */
const MAX_CONTRADICTIONS = 20;

/** The rows of one order, from the first. */
export type OrderRows = ReturnType<typeof startOrder>;

/** Starts an order with its first row. */
export function startOrder(first: Row, key: string | null, table: Table) {
  const { headings, itemColumns, orderColumns, isStray } = table;
  const rows = [first];
  const merged = [...first.cells];
  const contradictions: Contradiction[] = [];
  let stray = strayCellOf(first);
  let characters = 0;
  let { end } = first;

  function strayCellOf({ cells, line }: Row): { number: number; line: number } | null {
    const at = cells.findIndex((cell, column) => isStray(column) && cell.trim() !== '');
    return at < 0 ? null : { number: at + 1, line };
  }

  function note(line: number, column: string | null): void {
    if (contradictions.length < MAX_CONTRADICTIONS) contradictions.push({ line, column });
  }

  function merge({ cells, line }: Row): void {
    for (const at of orderColumns) {
      const [known, cell] = [(merged[at] ?? '').trim(), (cells[at] ?? '').trim()];
      if (known !== '' && cell !== '' && cell !== known) note(line, headings[at] ?? '');
    }
    for (const [at, cell] of cells.entries())
      if (!itemColumns.has(at) && (merged[at] ?? '').trim() === '') merged[at] = cell;
    const above = rows.at(-1)?.cells ?? [];
    if (cells.length === above.length && cells.every((cell, at) => cell === above[at])) note(line, null);
  }

  return {
    key,
    merged: merged as Cells,
    line: first.line,
    contradictions: contradictions as readonly Contradiction[],
    add(row: Row): void {
      ({ end } = row);
      characters += row.cells.reduce((sum, cell) => sum + cell.length, 0);
      stray ??= strayCellOf(row);
      if (rows.length <= MAX_ITEMS && characters <= MAX_ORDER_BYTES) {
        merge(row);
        rows.push(row);
      }
    },
    end: () => end,
    cells: () => rows.map((row) => row.cells),
    /** Why it cannot be sent; null if it can. */
    fault(): string | null {
      if (stray)
        return `Cell ${stray.number} of the row${stray.line === first.line ? '' : ` at line ${stray.line}`} has no heading above it.`;
      if (rows.length > MAX_ITEMS) return `It has more than ${MAX_ITEMS} rows, and an order at most as many items.`;
      return characters > MAX_ORDER_BYTES ? 'Its rows are longer than 16 MiB.' : null;
    },
  };
}
