import { withTimeout } from './with-timeout.ts';

/**
 * Makes something that is dear to read cheap to ask for: it is read when somebody asks, at most once in `everyMs` milliseconds, and all who
 * ask meanwhile get that answer, or its absence. Never two readings at a time, however long one hangs.
 *
 * @returns asks; null when the reading failed or took longer than `timeoutMs` milliseconds.
 */
export function cachedRead<T>(
  read: () => Promise<T>,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): () => Promise<T | null> {
  let answer: Promise<T | null> = Promise.resolve(null);
  let askedAt = Number.NEGATIVE_INFINITY;
  let isReading = false;

  return () => {
    if (isReading || performance.now() - askedAt < everyMs) return answer;
    askedAt = performance.now();
    isReading = true;
    const reading = read().finally(() => {
      isReading = false;
    });
    answer = withTimeout(reading, timeoutMs);
    return answer;
  };
}
