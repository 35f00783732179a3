import { useEffect, useEffectEvent } from 'react';

/** Handles the key presses of the whole page; with `capture`, before any element does. */
export function useKeyDown(onKeyDown: (event: KeyboardEvent) => void, capture = false): void {
  const handle = useEffectEvent(onKeyDown);
  useEffect(() => {
    document.addEventListener('keydown', handle, { capture });
    return () => document.removeEventListener('keydown', handle, { capture });
  }, [capture]);
}

/** The key of the command palette, as printed on the reader's keyboard. */
export const PALETTE_KEY = /mac|iphone|ipad/i.test(navigator.platform) ? '⌘K' : 'Ctrl K';
