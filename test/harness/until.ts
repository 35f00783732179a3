const PATIENCE_MS = 40_000;

/** Asks again and again, 40 s at most, until there is an answer; the way to wait for what tells nobody when it happens. */
export async function until<T>(what: string, ask: () => Promise<T | undefined | false | null>): Promise<T> {
  for (const startedAt = Date.now(); Date.now() - startedAt < PATIENCE_MS; ) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited ${PATIENCE_MS / 1000} s for: ${what}`);
}
