/**
 * A page of a list.
 *
 * @param rows read one beyond the page, where there are so many, to see whether there are more.
 * @returns `next`: the place of the last row, to go on from, or null at the end of the list.
 */
export function pageOf<Row, Place>(
  rows: readonly Row[],
  size: number,
  placeOf: (row: Row) => Place,
): { shown: Row[]; next: Place | null } {
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  return { shown, next: rows.length > size && last !== undefined ? placeOf(last) : null };
}
