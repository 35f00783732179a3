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
  for (let start = 0, end = 0; start < items.length; start = end) {
    end = endOfChunk(items, start, sizeOf, limits);
    chunks.push(items.slice(start, end));
  }
  return chunks;
}

/** How many of the first items form a chunk; at least one, unless there is none. Calls `sizeOf` once per item, in order. */
export function chunkLength<Item>(items: readonly Item[], sizeOf: (item: Item) => number, limits: ChunkLimits): number {
  return endOfChunk(items, 0, sizeOf, limits);
}

function endOfChunk<Item>(
  items: readonly Item[],
  start: number,
  sizeOf: (item: Item) => number,
  { size: maxSize, count: maxCount = Number.POSITIVE_INFINITY }: ChunkLimits,
): number {
  const end = Math.min(items.length, start + maxCount);
  let size = 0;
  for (let index = start; index < end; index++) {
    size += sizeOf(items[index] as Item);
    if (index > start && size > maxSize) return index;
  }
  return end;
}
