import { useCallback, useMemo, useSyncExternalStore } from 'react';

/** An order fits beside the list; `review.css` has the same width. */
export const WIDE_SCREEN = '(width >= 64rem)';
/** Each column of the list fits beside the navigation. */
export const WIDE_LIST = '(width >= 80rem)';

export function useMediaQuery(query: string): boolean {
  const list = useMemo(() => window.matchMedia(query), [query]);
  const subscribe = useCallback(
    (onChange: () => void) => {
      list.addEventListener('change', onChange);
      return () => list.removeEventListener('change', onChange);
    },
    [list],
  );
  return useSyncExternalStore(subscribe, () => list.matches);
}
