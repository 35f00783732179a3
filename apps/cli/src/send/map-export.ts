import { mapOrder } from '@orders/domain/sources/map-order.ts';
import { type DeliveryKind, kindOf } from '@orders/domain/sources/read-delivery.ts';
import type { ShopExport } from '@orders/domain/sources/shop-exports.ts';
import { type IgnoredColumns, requireHeadings } from './headings.ts';
import { columnsOf, keyReader, orderFieldsOf } from './map-rows.ts';
import type { Cells, Table } from './order-rows.ts';

/** An export says of each order whether there is something to deliver. */
export interface ExportTable extends Table {
  kindOf(merged: Cells): DeliveryKind;
}

/**
 * Reads the rows of a shop's own export. Columns that its mapping does not read are left out, and those that it reads may be absent.
 *
 * @throws {UsageError} if a column to ignore is not there.
 */
export function mapExport(headings: readonly string[], shop: ShopExport, { ignored }: IgnoredColumns): ExportTable {
  requireHeadings(headings, ignored);
  const { key, mapping, settings } = shop;
  const { name, quantity, sku } = mapping.items;
  const kept = [...headings.entries()].filter(([, heading]) => !ignored.includes(heading));
  const documentOf = (row: Cells) => Object.fromEntries(kept.map(([at, heading]) => [heading, row[at]]));
  return {
    headings,
    ...columnsOf(headings, [key, ...orderFieldsOf(mapping)], [name ?? [], quantity ?? [], sku ?? []]),
    keyOf: keyReader(key, documentOf),
    continuesWithoutKey: true,
    toOrder: (merged, rows) => mapOrder({ ...documentOf(merged), rows: rows.map(documentOf) }, mapping),
    kindOf: (merged) => kindOf(documentOf(merged), {}, settings),
    isStray: (at) => at >= headings.length,
  };
}
