import { type DeliveryKind, kindOf } from '@orders/domain/sources/delivery-kind.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
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
 * @throws {OptionsError} if a column to ignore is not there.
 */
export function mapExport(headings: readonly string[], shop: ShopExport, { ignored }: IgnoredColumns): ExportTable {
  requireHeadings(headings, ignored);
  const { key, mapping, settings, attributes = [] } = shop;
  const { name, quantity, sku } = mapping.items;
  const kept = [...headings.entries()].filter(([, heading]) => !ignored.includes(heading));
  const documentOf = (row: Cells) => Object.fromEntries(kept.map(([at, heading]) => [heading, row[at]]));
  const orderOf = (merged: Cells) => {
    const columns = documentOf(merged);
    const note_attributes = [attributes].flat().flatMap((pointer) => attributesIn(columns[pointer.slice(1)]));
    return { ...columns, note_attributes };
  };
  return {
    headings,
    ...columnsOf(headings, [key, attributes, ...orderFieldsOf(mapping)], [name ?? [], quantity ?? [], sku ?? []]),
    keyOf: keyReader(key, documentOf),
    toOrder: (merged, rows) => mapOrder({ ...orderOf(merged), rows: rows.map(documentOf) }, mapping),
    kindOf: (merged) => kindOf(documentOf(merged), {}, settings),
    isStray: (at) => at >= headings.length,
  };
}

/** The lines `name: value` of a cell. */
function attributesIn(cell: string | undefined): { name: string; value: string }[] {
  return (cell ?? '').split('\n').flatMap((line) => {
    const [name = '', ...value] = line.split(': ');
    return value.length > 0 ? [{ name: name.trim(), value: value.join(': ') }] : [{ name: 'Note', value: line }];
  });
}
