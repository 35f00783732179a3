/**
 * Repeats a statement that removes up to `chunkSize` rows until it removes fewer, so that no statement takes long or holds locks for long,
 * whatever has accumulated.
 *
 * @param removeChunk returns how many rows it removed.
 * @param signal stops it between two chunks.
 * @returns the number of removed rows.
 */
export async function removeChunks(
  chunkSize: number,
  removeChunk: () => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let count = chunkSize; count === chunkSize && !signal?.aborted; removed += count) count = await removeChunk();
  return removed;
}
