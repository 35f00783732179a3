import { useEffect, useEffectEvent, useState } from 'react';
import { useIsHidden } from './use-is-hidden.ts';

/** Messages do not end while the pointer or the focus is in their region, or the tab is hidden. `resume`: the button with the focus disappears. */
export function usePause() {
  const [isHeld, setHeld] = useState(false);
  const isHidden = useIsHidden();
  const hold = () => setHeld(true);
  const resume = () => setHeld(false);
  const handlers = { onPointerEnter: hold, onPointerLeave: resume, onFocus: hold, onBlur: resume };
  return { isPaused: isHeld || isHidden, resume, handlers };
}

/** Ends a message in so many milliseconds; null for not yet. */
export function useEnd(inMs: number | null, onEnd: () => void): void {
  const end = useEffectEvent(onEnd);
  useEffect(() => {
    if (inMs === null) return;
    const timer = setTimeout(end, Math.max(0, inMs));
    return () => clearTimeout(timer);
  }, [inMs]);
}
