import { useSyncExternalStore } from 'react';

/** A value outside of the components, which outlives them. */
export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  /** What is picked of the value; renders again when that changes. */
  use<Picked>(pick: (value: Value) => Picked): Picked;
}

export function createStore<Value>(initial: Value): Store<Value> {
  let current = initial;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get: () => current,
    set(value) {
      current = value;
      for (const listener of listeners) listener();
    },
    use: (pick) => useSyncExternalStore(subscribe, () => pick(current)),
  };
}
