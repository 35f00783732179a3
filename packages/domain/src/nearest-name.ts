/** Longer names are costly to compare. */
const MAX_NAME = 40;

/** The one of the names that is spelled most alike; null if none differs by at most a quarter of its letters. */
export function nearestName(name: string, names: readonly string[]): string | null {
  if (name.length > MAX_NAME) return null;
  const most = Math.max(1, Math.floor(name.length / 4));
  const near = names
    .filter((other) => Math.abs(other.length - name.length) <= most)
    .map((other) => ({ other, distance: typingDistance(name, other) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.other ?? null;
}

/**
 * The optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. Takes quadratic time, which is fine
 * for names of about ten characters.
 */
export function typingDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, at(last, column) + 1, at(current, column - 1) + 1));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
