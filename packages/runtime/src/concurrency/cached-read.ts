import { withTimeout } from './with-timeout.ts';

/**
 * Caches an expensive read for `everyMs` milliseconds. It reads only when called, and never runs two reads at the same time, even if one
 * hangs.
 *
 * @returns a function that returns the value, or null when the read failed or took longer than `timeoutMs` milliseconds.
 */
export function cachedRead<T>(
  read: () => Promise<T>,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): () => Promise<T | null> {
  let cached: Promise<T | null> = Promise.resolve(null);
  let readAt = Number.NEGATIVE_INFINITY;
  let isReading = false;

  return () => {
    if (isReading || performance.now() - readAt < everyMs) return cached;
    readAt = performance.now();
    isReading = true;
    const reading = read().finally(() => {
      isReading = false;
    });
    cached = withTimeout(reading, timeoutMs);
    return cached;
  };
}
