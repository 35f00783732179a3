import { useCallback, useEffect, useRef } from 'react';

/** For this long after an order appeared nobody can have read it, in milliseconds. */
const UNREAD_MS = 500;

/**
 * Whether the key or pointer that asks for a decision was pressed on what is shown, and not before that could be read. A held key, the second
 * click of a double click, and a click that began on another order do not count.
 *
 * @param shown identifies what is shown to decide about.
 * @returns asks about the event that is being handled.
 */
export function useDeliberatePress(shown: string): () => boolean {
  const current = useRef({ shown: '', since: 0 });
  const press = useRef({ shown: '', at: 0 });
  if (current.current.shown !== shown) current.current = { shown, since: performance.now() };
  useEffect(() => {
    let isKeyDown = false;
    const note = () => {
      press.current = { shown: current.current.shown, at: performance.now() };
    };
    const onKeyDown = ({ repeat }: KeyboardEvent) => {
      isKeyDown = true;
      if (!repeat) note();
    };
    // A space clicks the focused button after its `keyup`.
    const onKeyUp = () => setTimeout(() => (isKeyDown = false));
    const onBlur = () => (isKeyDown = false);
    // Screen readers and voice control click without a key or pointer.
    const onClick = ({ detail }: MouseEvent) => {
      if (detail === 0 && !isKeyDown) note();
    };
    const [listening, capture] = [new AbortController(), true];
    const { signal } = listening;
    document.addEventListener('pointerdown', note, { capture, signal });
    document.addEventListener('keydown', onKeyDown, { capture, signal });
    document.addEventListener('keyup', onKeyUp, { capture, signal });
    document.addEventListener('click', onClick, { capture, signal });
    window.addEventListener('blur', onBlur, { signal });
    return () => listening.abort();
  }, []);
  return useCallback(() => {
    const { shown: on, since } = current.current;
    return press.current.shown === on && press.current.at - since >= UNREAD_MS;
  }, []);
}
