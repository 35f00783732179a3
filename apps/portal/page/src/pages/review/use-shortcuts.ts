import { useEffect, useEffectEvent, useState } from 'react';

const STORED = 'shortcuts';

/** Whether single-key shortcuts are on (WCAG 2.1.4); stored on this device. */
export function useShortcutSetting(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => localStorage.getItem(STORED) !== 'off');
  const change = (isOn: boolean) => {
    localStorage.setItem(STORED, isOn ? 'on' : 'off');
    setOn(isOn);
  };
  return [on, change];
}

/** Actions by `KeyboardEvent.key` in lower case. */
export type Shortcuts = Record<string, (() => void) | undefined>;

/** Keys that print no character; they work even if single-key shortcuts are off. */
const SILENT_KEYS = new Set(['arrowdown', 'arrowup', 'enter', 'escape']);
const TYPING = 'input:not([type="checkbox"], [type="radio"]), select, textarea, [contenteditable]';

/** Whether arrows and Enter have no other function at the focused element. */
function isFree(target: Element, key: string): boolean {
  if (target === document.body || target.id === 'content') return true;
  return target.closest('.order-row') !== null && !(key === 'enter' && target.closest('a'));
}

/** Handles shortcuts of the whole page, except while typing, in a dialog, or with a modifier key. */
export function useShortcuts(shortcuts: Shortcuts, singleKeysOn: boolean): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest(TYPING) || document.querySelector('dialog[open]')) return;
    const key = event.key.toLowerCase();
    const run = shortcuts[key];
    if (!run || (SILENT_KEYS.has(key) ? key !== 'escape' && !isFree(target, key) : !singleKeysOn)) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
