import { useSyncExternalStore } from 'react';

function watchVisibility(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
}

/** Whether the tab is hidden: behind another one, or its window minimized. */
export function useIsHidden(): boolean {
  return useSyncExternalStore(watchVisibility, () => document.hidden);
}
