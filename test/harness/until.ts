/** Asks again and again, 20 s at most, until there is an answer; the way to wait for what tells nobody when it happens. */
export async function until<T>(what: string, ask: () => Promise<T | undefined | false | null>): Promise<T> {
  for (const startedAt = Date.now(); Date.now() - startedAt < 20_000; ) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited 20 s for: ${what}`);
}
