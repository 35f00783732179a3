/** Limits of a chunk: max total size and max number of items. An item above the max size gets its own chunk. */
interface ChunkLimits {
  size: number;
  count?: number;
}

/** Splits a list into chunks, in order. */
export function chunkBySize<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  limits: ChunkLimits,
): Item[][] {
  const chunks: Item[][] = [];
  for (let rest = items; rest.length > 0; ) {
    const length = chunkLength(rest, sizeOf, limits);
    chunks.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return chunks;
}

/** How many of the first items form a chunk; at least one, unless there is none. Calls `sizeOf` once per item, in order. */
export function chunkLength<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  { size: maxSize, count: maxCount = Number.POSITIVE_INFINITY }: ChunkLimits,
): number {
  const end = Math.min(items.length, maxCount);
  let size = 0;
  for (let index = 0; index < end; index++) {
    size += sizeOf(items[index] as Item);
    if (index > 0 && size > maxSize) return index;
  }
  return end;
}
