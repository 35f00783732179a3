import { useEffect, useState } from 'react';

const DELAY_MS = 150;

/** A typed text once typing pauses, so that not every letter sends a request. */
export function useDebounced(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
