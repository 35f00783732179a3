interface Closable {
  close(): Promise<unknown>;
}

/** What the running test file opened; `test/jest/environment.ts` closes it. On the global object, as each test file has its own harness. */
const OPENED = Symbol.for('orders.opened');
const shared = globalThis as { [OPENED]?: Closable[] };

/** Closes it after the test file and all of its hooks, also if a set-up fails. It can still be closed before. */
export function closeAtEnd<T extends Closable>(opened: T): T {
  const { close } = opened;
  let closing: Promise<unknown> | undefined;
  opened.close = () => (closing ??= close.call(opened));
  shared[OPENED] = [...(shared[OPENED] ?? []), opened];
  return opened;
}

/** Closes what was opened, the last first. */
export async function closeOpened(): Promise<void> {
  const opened = shared[OPENED] ?? [];
  shared[OPENED] = [];
  for (const one of opened.reverse()) await one.close();
}
