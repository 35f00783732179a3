interface Listening {
  callbacks: Set<() => void>;
  listener: () => void;
}

const bySignal = new WeakMap<AbortSignal, Listening>();

/**
 * Runs `callback` when the signal aborts, unless what is returned was called before.
 *
 * However many calls share a signal, it has one listener: platforms warn of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => undefined;
  const { callbacks, listener } = bySignal.get(signal) ?? listenTo(signal);
  // Another one each time, so that the same callback may be given twice.
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
