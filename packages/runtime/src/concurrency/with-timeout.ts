/** The answer, or null if it fails or takes longer than `timeoutMs` milliseconds; what is too late is forgotten. */
export async function withTimeout<T>(answer: Promise<T>, timeoutMs: number): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), timeoutMs);
  return Promise.race([answer.catch(() => null), late.promise]).finally(() => clearTimeout(timer));
}
