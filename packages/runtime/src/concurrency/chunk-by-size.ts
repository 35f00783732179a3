/**
 * Cuts a list into parts, in its order.
 *
 * @param limits of each part: the sizes of all in it together, but for one that is larger alone, and how many they are.
 */
export function chunkBySize<One>(
  list: readonly One[],
  sizeOf: (one: One) => number,
  limits: { size: number; count?: number },
): One[][] {
  const { size: mostSize, count: mostCount = Number.POSITIVE_INFINITY } = limits;
  const parts: One[][] = [];
  let part: One[] = [];
  let size = 0;
  for (const one of list) {
    const sizeOfOne = sizeOf(one);
    if (part.length === 0 || size + sizeOfOne > mostSize || part.length >= mostCount) {
      part = [];
      parts.push(part);
      size = 0;
    }
    part.push(one);
    size += sizeOfOne;
  }
  return parts;
}
