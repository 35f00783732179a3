/**
 * SQL: the column's value is one of an array of receipt ids **in ascending order**. Its bounds are said too, for by them Postgres leaves
 * out the partitions that hold none of these; from the array alone it would search each one for each id.
 *
 * @param parameter such as `$1`.
 */
export function idIn(column: string, parameter: string): string {
  const ids = `${parameter}::uuid[]`;
  return `${column} = any(${ids}) and ${column} between (${ids})[1] and (${ids})[cardinality(${ids})]`;
}

/** The order that `among` asks for: that of the text, as ids are all lower case. */
export function ascending(receiptIds: readonly string[]): string[] {
  return receiptIds.toSorted((a, b) => (a < b ? -1 : 1));
}
