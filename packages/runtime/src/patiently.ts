/** The answer, or null if it fails or takes longer than `patienceMs` milliseconds; what is too late is forgotten. */
export async function patiently<T>(answer: Promise<T>, patienceMs: number): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), patienceMs);
  return Promise.race([answer.catch(() => null), late.promise]).finally(() => clearTimeout(timer));
}
