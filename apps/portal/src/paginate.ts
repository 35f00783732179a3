/**
 * Cuts a page of at most `size` rows and half a megabyte of JSON.
 *
 * @param rows up to `size + 1` rows; the extra one shows that there are more.
 * @returns `next`: the cursor of the page's last row, or null at the end of the list.
 */
export function paginate<Row, Cursor>(
  rows: readonly Row[],
  size: number,
  cursorOf: (row: Row) => Cursor,
): { page: Row[]; next: Cursor | null } {
  const page = limitPageBytes(rows.slice(0, size));
  const last = page.at(-1);
  return { page, next: rows.length > page.length && last !== undefined ? cursorOf(last) : null };
}

/** Max bytes of a page as JSON; a single row is a fraction of that. */
const PAGE_BYTES = 524_288;

/** The first rows that fit into a page, at least one. */
export function limitPageBytes<Row>(rows: readonly Row[]): Row[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return bytes > PAGE_BYTES && index > 0;
  });
  return rows.slice(0, end === -1 ? rows.length : end);
}
