import { useSyncExternalStore } from 'react';

/** A choice about the portal, stored on this device. */
export interface Preference<T extends string> {
  values: readonly T[];
  get(): T;
  set(value: T): void;
  use(): T;
}

/**
 * @param values the first one is the default.
 * @param apply called with the value now and after each change.
 */
function createPreference<T extends string>(
  name: string,
  values: readonly [T, ...T[]],
  apply: (value: T) => void = () => {},
): Preference<T> {
  const watchers = new Set<() => void>();
  const get = () => values.find((value) => value === localStorage.getItem(name)) ?? values[0];
  const watch = (watcher: () => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  };
  apply(get());
  return {
    values,
    get,
    set(value) {
      localStorage.setItem(name, value);
      apply(value);
      for (const watcher of watchers) watcher();
    },
    use: () => useSyncExternalStore(watch, get),
  };
}

/** A preference about the looks: its value is also the attribute `data-<name>` of the page; the default has none. */
function createLook<T extends string>(name: string, values: readonly [T, ...T[]]): Preference<T> {
  return createPreference(name, values, (value) => {
    if (value === values[0]) delete document.documentElement.dataset[name];
    else document.documentElement.dataset[name] = value;
  });
}

export const theme = createLook('theme', ['system', 'light', 'dark']);
export const density = createLook('density', ['comfortable', 'compact']);

/** What one order is printed on. */
export const printPaper = createPreference('print-paper', ['ticket', 'page']);

// How new orders are announced.
export const titleCount = createPreference('title-count', ['on', 'off']);
export const sound = createPreference('sound', ['off', 'on']);
export const desktopNotice = createPreference('desktop-notice', ['off', 'on']);
