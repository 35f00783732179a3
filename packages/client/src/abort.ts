/** Resolves after `ms` milliseconds. An abort rejects it immediately with the signal's reason. Leaves no timer or listener behind. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const release = onAbort(signal, () => {
      clearTimeout(timer);
      release();
      reject(signal?.reason);
    });
    const timer = setTimeout(() => {
      release();
      resolve();
    }, ms);
  });
}

const BASE_MS = 500;
const CAP_MS = 8000;

/**
 * The pause after the nth consecutive failure, from 0, in milliseconds: exponential, capped and random, so that clients
 * that failed together do not retry together.
 */
export function backoffMs(failures: number): number {
  return Math.random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);
}

interface Listening {
  callbacks: Set<() => void>;
  listener: () => void;
}

const bySignal = new WeakMap<AbortSignal, Listening>();

/**
 * Runs `callback` when the signal aborts. The returned function removes the callback.
 *
 * A signal has one listener for all calls, because platforms warn of a leak from the eleventh listener on.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => undefined;
  const { callbacks, listener } = bySignal.get(signal) ?? listenTo(signal);
  // A new object for each registration, so that the same callback can be registered twice.
  const own = () => callback();
  callbacks.add(own);
  return () => {
    if (!callbacks.delete(own) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    bySignal.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>();
  const listener = () => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener('abort', listener);
  const listening = { callbacks, listener };
  bySignal.set(signal, listening);
  return listening;
}
