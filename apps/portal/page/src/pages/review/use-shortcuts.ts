import { useEffect, useEffectEvent, useState } from 'react';

const STORED = 'shortcuts';

/** Whether single keys act (WCAG 2.1.4); kept on this device. */
export function useShortcutSetting(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => localStorage.getItem(STORED) !== 'off');
  const change = (wanted: boolean) => {
    localStorage.setItem(STORED, wanted ? 'on' : 'off');
    setOn(wanted);
  };
  return [on, change];
}

/** What a key does; keys as `KeyboardEvent.key` names them, in lower case. */
export type Shortcuts = Record<string, (() => void) | undefined>;

/** Keys that print nothing, and so disturb nobody: they act even where single keys are switched off. */
const SILENT_KEYS = new Set(['arrowdown', 'arrowup', 'enter', 'escape']);
const TYPING = 'input:not([type="checkbox"], [type="radio"]), select, textarea, [contenteditable]';

/** Whether the arrows and Enter have no other meaning where the focus is. */
function isFree(target: Element, key: string): boolean {
  if (target === document.body || target.id === 'content') return true;
  return target.closest('.order-row') !== null && !(key === 'enter' && target.closest('a'));
}

/** Keys of the whole page, except while somebody types, a dialog is open, or another key is held. */
export function useShortcuts(shortcuts: Shortcuts, lettersOn: boolean): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest(TYPING) || document.querySelector('dialog[open]')) return;
    const key = event.key.toLowerCase();
    const run = shortcuts[key];
    if (!run || (SILENT_KEYS.has(key) ? key !== 'escape' && !isFree(target, key) : !lettersOn)) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
