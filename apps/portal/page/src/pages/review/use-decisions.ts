import { useState } from 'react';
import type { ReviewState } from '../../api/review.ts';

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
