import { useSyncExternalStore } from 'react';

/** A choice about how the portal looks, stored on this device. */
export interface Preference<T extends string> {
  values: readonly T[];
  get(): T;
  set(value: T): void;
  use(): T;
}

/** The choice becomes the attribute `data-<name>` of the page; the first value, the default, has none. */
function createPreference<T extends string>(name: string, values: readonly [T, ...T[]]): Preference<T> {
  const watchers = new Set<() => void>();
  const get = () => values.find((value) => value === localStorage.getItem(name)) ?? values[0];
  const apply = () => {
    if (get() === values[0]) delete document.documentElement.dataset[name];
    else document.documentElement.dataset[name] = get();
  };
  const watch = (watcher: () => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  };
  apply();
  return {
    values,
    get,
    set(value) {
      localStorage.setItem(name, value);
      apply();
      for (const watcher of watchers) watcher();
    },
    use: () => useSyncExternalStore(watch, get),
  };
}

export const theme = createPreference('theme', ['system', 'light', 'dark']);
export const density = createPreference('density', ['comfortable', 'compact']);
