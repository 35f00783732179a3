interface Closable {
  close(): Promise<unknown>;
}

/** How long something is open. */
type Span = 'test' | 'file';

/** What was opened; `test/jest/environment.ts` closes it. On the global object, as each test file has its own harness. */
const OPENED = Symbol.for('orders.opened');
const shared = globalThis as { [OPENED]?: Record<Span, Closable[]> };

/** Closes it after the test file and all of its hooks, also if a set-up fails. It can still be closed before. */
export function closeAtEnd<T extends Closable>(opened: T, span: Span = 'file'): T {
  const { close } = opened;
  let closing: Promise<unknown> | undefined;
  opened.close = () => (closing ??= close.call(opened));
  shared[OPENED] ??= { test: [], file: [] };
  shared[OPENED][span].push(opened);
  return opened;
}

/** Closes it after the running test, also if that fails, and before the hooks after it. It can still be closed before. */
export const closeAfterTest = <T extends Closable>(opened: T): T => closeAtEnd(opened, 'test');

/** Closes what was opened, the last first. */
export async function closeOpened(span: Span): Promise<void> {
  for (const one of shared[OPENED]?.[span].splice(0).reverse() ?? []) await one.close();
}
