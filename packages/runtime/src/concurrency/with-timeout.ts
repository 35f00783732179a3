/**
 * The promise's value, or null if it is rejected or takes longer than `timeoutMs` milliseconds; a late result is ignored. The timer does not
 * keep the process alive.
 */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T | null> {
  const timeout = Promise.withResolvers<null>();
  const timer = setTimeout(() => timeout.resolve(null), timeoutMs).unref();
  return Promise.race([promise.catch(() => null), timeout.promise]).finally(() => clearTimeout(timer));
}
