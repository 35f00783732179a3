/**
 * Splits a list into chunks, in order.
 *
 * @param limits max total size and max number of items per chunk. An item above the max size gets its own chunk.
 */
export function chunkBySize<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  limits: { size: number; count?: number },
): Item[][] {
  const { size: maxSize, count: maxCount = Number.POSITIVE_INFINITY } = limits;
  const chunks: Item[][] = [];
  let chunk: Item[] = [];
  let chunkSize = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (chunk.length === 0 || chunkSize + size > maxSize || chunk.length >= maxCount) {
      chunk = [];
      chunks.push(chunk);
      chunkSize = 0;
    }
    chunk.push(item);
    chunkSize += size;
  }
  return chunks;
}
