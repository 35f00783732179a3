/**
 * A page of a list: at most `size` rows, and no more than fit into half a megabyte as JSON.
 *
 * @param rows read one beyond the page, where there are so many, to see whether there are more.
 * @returns `next`: the place of the last row, to go on from, or null at the end of the list.
 */
export function paginate<Row, Cursor>(
  rows: readonly Row[],
  size: number,
  cursorOf: (row: Row) => Cursor,
): { shown: Row[]; next: Cursor | null } {
  const shown = withinPage(rows.slice(0, size));
  const last = shown.at(-1);
  return { shown, next: rows.length > shown.length && last !== undefined ? cursorOf(last) : null };
}

/** The most of a page of a list as JSON, in bytes, where each row fits into a fraction of that. */
const PAGE_BYTES = 524_288;

/** As many of the first rows as fit into a page, at least one. */
export function withinPage<Row>(rows: readonly Row[]): Row[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return bytes > PAGE_BYTES && index > 0;
  });
  return rows.slice(0, end === -1 ? rows.length : end);
}
