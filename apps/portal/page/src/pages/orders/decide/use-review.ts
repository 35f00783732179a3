import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import {
  MAX_ORDERS_PER_REQUEST,
  type ReviewOutcome,
  type ReviewState,
  review,
  undoReview,
} from '../../../api/review.ts';
import { isFinal, useProblemText } from '../../../components/loaded.tsx';
import { useClosing } from './use-closing.ts';
import {
  type DecisionMessage,
  doneMessage,
  isAboutRequests,
  newMessage,
  type ReviewMessage,
  UNDO_MS,
  useDecisionMessages,
} from './use-decision-messages.ts';

/** The states of orders after a decision on this page (at once) or by somebody else; they override the loaded list. */
export type Moved = ReadonlyMap<number, ReviewState>;

/**
 * Confirms, rejects and reopens orders optimistically. Messages say that a decision is sent, then that the service made it. If it fails, the
 * orders return to the list and a message gives the reason.
 *
 * @param onSettled the service's states of orders, for the loaded lists.
 * @param onReturned these orders need review again and may be missing from the list.
 * @param onHeld these orders wait for a decision about a changed delivery.
 * @param onUncertain a request of several chunks failed, so an unknown part of the orders was moved.
 */
export function useReview(
  accountId: number,
  on: {
    onSettled: (states: ReadonlyMap<number, ReviewState>) => void;
    onReturned: (ids: number[]) => void;
    onHeld: (ids: number[]) => void;
    onUncertain: () => void;
  },
) {
  const { t } = useTranslation('review');
  const textOf = useProblemText();
  const { messages, put, drop, expire, settle: settleMessages } = useDecisionMessages(accountId);
  const closing = useClosing(accountId);
  const queryClient = useQueryClient();
  const [moved, setMoved] = useState<Moved>(new Map());
  const running = useRef(new Map<string, Promise<ReviewOutcome | null>>());
  const pending = useRef(new Set<number>());
  const settledAt = useRef(new Map<number, number>());

  const move = (ids: Iterable<number>, to: ReviewState | null) =>
    setMoved((before) => {
      const after = new Map(before);
      for (const id of ids) to === null ? after.delete(id) : after.set(id, to);
      return after;
    });

  /**
   * Sends a decision, corrects the optimistic states and tells what became of it.
   *
   * @param before the optimistic states if it fails.
   */
  async function settle(
    message: ReviewMessage,
    before: ReviewState | null,
    request: () => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome | null> {
    const { ids } = message;
    const to = message.to === 'undone' ? 'needs_review' : message.to;
    for (const id of ids) pending.current.add(id);
    put(message);
    move(ids, to);
    try {
      const outcome = await request();
      const { changed, unchanged } = outcome;
      for (const { order_id, review_state } of unchanged) move([order_id], review_state);
      on.onSettled(
        new Map([
          ...changed.map((id) => [id, to] as const),
          ...unchanged.map(({ order_id, review_state }) => [order_id, review_state] as const),
        ]),
      );
      if (changed.length === 0) drop(message.id);
      else put(doneMessage(message, changed));
      tellUnchanged(message, unchanged);
      return outcome;
    } catch (error) {
      move(ids, before);
      const isGone = isProblem(error, 'order_not_found');
      const { again, ...failed } = message;
      put({
        ...failed,
        state: 'failed',
        problem: isGone ? t('notice.gone') : textOf(error),
        ...(again && !isFinal(error) && { again }),
      });
      if (ids.length > MAX_ORDERS_PER_REQUEST) on.onUncertain();
      return null;
    } finally {
      for (const id of ids) pending.current.delete(id);
      for (const id of ids) settledAt.current.set(id, performance.now());
      void queryClient.invalidateQueries({ queryKey: ['updates', accountId] });
      void queryClient.invalidateQueries({ queryKey: ['order', accountId] });
    }
  }

  /** Somebody else was faster, the sender has cancelled them, or a changed delivery holds them. */
  function tellUnchanged({ to, names }: ReviewMessage, unchanged: ReviewOutcome['unchanged']): void {
    const reasonOf = ({ held, review_state }: ReviewOutcome['unchanged'][number]) =>
      held ? 'held' : review_state === 'cancelled' ? 'cancelled' : 'unchanged';
    for (const [reason, orders] of Map.groupBy(unchanged, reasonOf)) {
      const ids = orders.map(({ order_id }) => order_id);
      put({
        ...newMessage({ to, ids, names }),
        state: 'failed',
        problem: t(`decided.why.${reason}`, { count: ids.length }),
      });
      if (reason === 'held') on.onHeld(ids);
    }
  }

  async function undo(message: ReviewMessage): Promise<void> {
    const { id, ids, to, names } = message;
    if (to === 'undone') return;
    put({ ...message, canUndo: false });
    // The change must have completed before it can be undone.
    const changed = running.current.has(id) ? ((await running.current.get(id))?.changed ?? []) : ids;
    if (changed.length === 0) return;
    drop(id);
    await sendUndo({ ...newMessage({ to: 'undone' as const, ids: changed, names }), again: { before: to } });
  }

  async function sendUndo(message: ReviewMessage): Promise<void> {
    const before = message.again?.before ?? null;
    const outcome = await settle(message, before, () => undoReview(accountId, message.ids, message.id));
    if (outcome && outcome.changed.length > 0) on.onReturned(outcome.changed);
  }

  async function sendReview(message: ReviewMessage): Promise<void> {
    const { id, ids, to, again } = message;
    if (to === 'undone') return;
    const sent = settle(message, null, () => review(accountId, ids, to, again?.reason, id));
    running.current.set(id, sent);
    await sent;
    running.current.delete(id);
  }

  /** @param nameOf names an order in messages. */
  function change(wanted: number[], to: ReviewState, nameOf: (id: number) => string, reason?: string): void {
    const ids = wanted.filter((id) => !pending.current.has(id));
    if (ids.length === 0) return;
    settleMessages((id) => ids.includes(id));
    const canUndo = to !== 'needs_review';
    // An order that leaves the list keeps its name.
    const names = new Map(ids.map((id) => [id, nameOf(id)]));
    void sendReview({ ...newMessage({ to, ids, names }), canUndo, again: { reason } });
  }

  function undoAny(message: DecisionMessage): void {
    if (isAboutRequests(message)) closing.undo(message);
    else void undo(message);
  }

  /** Sends a failed decision again. */
  function retry(message: DecisionMessage): void {
    if (isAboutRequests(message)) closing.retry(message);
    else if (!message.ids.some((id) => pending.current.has(id))) sendAgain(message);
  }

  function sendAgain(message: ReviewMessage): void {
    const { problem: _problem, ...sent } = message;
    const again = { ...sent, state: 'running' as const, until: Date.now() + UNDO_MS };
    void (message.to === 'undone' ? sendUndo(again) : sendReview(again));
  }

  function undoLast(): void {
    const last = messages.findLast(({ state, canUndo, until }) => canUndo && state !== 'failed' && until > Date.now());
    if (last) undoAny(last);
  }

  /** Drops optimistic states after a reload, except those of pending requests. */
  const clearMoved = useCallback(
    () => setMoved((before) => new Map([...before].filter(([id]) => pending.current.has(id)))),
    [],
  );

  /**
   * Takes over states that the service reports, except those that are older than a decision on this page.
   *
   * @param requestedAt of the report, in the time of `performance.now()`.
   * @returns the states that were taken over.
   */
  function moveTo(states: Moved, requestedAt: number): Moved {
    const newer = new Map(
      [...states].filter(([id]) => !pending.current.has(id) && (settledAt.current.get(id) ?? 0) < requestedAt),
    );
    if ([...newer].some(([id, state]) => moved.get(id) !== state)) setMoved((before) => new Map([...before, ...newer]));
    // The response was lost, not the decision.
    settleMessages((id, { to }) => newer.get(id) === (to === 'undone' ? 'needs_review' : to));
    return newer;
  }

  return {
    moved,
    clearMoved,
    moveTo,
    change,
    messages,
    undo: undoAny,
    undoLast,
    retry,
    expire,
    dismiss: ({ id }: DecisionMessage) => drop(id),
  };
}
