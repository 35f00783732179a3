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
