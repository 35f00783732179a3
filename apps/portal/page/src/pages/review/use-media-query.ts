import { useSyncExternalStore } from 'react';

const wide = window.matchMedia('(width >= 64rem)');

function watch(changed: () => void): () => void {
  wide.addEventListener('change', changed);
  return () => wide.removeEventListener('change', changed);
}

/** Whether an order has room beside the list. The same width stands in `review.css`. */
export function useMediaQuery(): boolean {
  return useSyncExternalStore(watch, () => wide.matches);
}
