/**
 * SQL: the column's value is in an array of receipt ids **in ascending order**. The explicit bounds let Postgres prune partitions; with the
 * array alone it would search every partition for each id.
 *
 * @param parameter such as `$1`.
 */
export function idIn(column: string, parameter: string): string {
  const ids = `${parameter}::uuid[]`;
  return `${column} = any(${ids}) and ${column} between (${ids})[1] and (${ids})[cardinality(${ids})]`;
}

/** Sorts ids as `idIn` requires; string order works, as ids are lower case. */
export function ascending(receiptIds: readonly string[]): string[] {
  return receiptIds.toSorted((a, b) => (a < b ? -1 : 1));
}
