import { useCallback, useEffect, useRef, useState } from 'react';
import type { ReviewState } from '../../../api/review.ts';

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

/** More orders than this are decided only after their number was typed. */
export const MAX_WITHOUT_TYPING = 50;

/** A question before a decision. */
export type Question =
  | { kind: 'resent'; ids: number[]; resent: number[] }
  | { kind: 'blocked'; ids: number[]; blocked: number[] }
  | { kind: 'number'; ids: number[]; to: ReviewState }
  | { kind: 'reason'; ids: number[] };

/**
 * Leads from a requested decision over the questions that it needs to `decide`: which version of orders that were sent again, whether to
 * confirm orders that cannot be delivered, the number of very many orders, the reason of a rejection.
 */
export function useDecisions(
  isResent: (id: number) => boolean,
  isBlocked: (id: number) => boolean,
  decide: (ids: number[], to: ReviewState, reason?: string) => void,
) {
  const [question, ask] = useState<Question | null>(null);
  /** After the question about blocked orders, if any. */
  const proceed = (ids: number[], to: ReviewState, isTyped = false) => {
    if (ids.length > MAX_WITHOUT_TYPING && !isTyped) return ask({ kind: 'number', ids, to });
    if (to === 'rejected') return ask({ kind: 'reason', ids });
    ask(null);
    return decide(ids, to);
  };
  /** Confirms orders in their own version. */
  const confirm = (ids: number[]) => {
    const blocked = ids.filter(isBlocked);
    if (blocked.length > 0) ask({ kind: 'blocked', ids, blocked });
    else proceed(ids, 'confirmed');
  };
  const request = (ids: number[], to: ReviewState) => {
    if (to !== 'confirmed') return proceed(ids, to);
    const resent = ids.filter(isResent);
    if (resent.length > 0) ask({ kind: 'resent', ids, resent });
    else confirm(ids);
  };
  return {
    question,
    request,
    confirm,
    proceed,
    reject: (ids: number[], reason: string) => {
      ask(null);
      decide(ids, 'rejected', reason);
    },
    cancel: () => ask(null),
  };
}
