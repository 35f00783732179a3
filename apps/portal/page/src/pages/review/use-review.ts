import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { MAX_ORDERS_PER_REQUEST, type ReviewOutcome, type ReviewState, review, undoReview } from '../../api/review.ts';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';

/** How long a notice offers to undo, in milliseconds; the service allows a little longer. */
const UNDO_MS = 7000;

/** Optimistic states of orders that were moved on this page; they override the loaded list. */
export type Moved = ReadonlyMap<number, ReviewState>;

interface Undoable {
  to: ReviewState;
  done: Promise<ReviewOutcome | null>;
  until: number;
  notice: number;
}

/**
 * Confirms, rejects and reopens orders optimistically. If the service rejects the change, the orders return to the list and a notice
 * gives the reason.
 *
 * @param onReturned these orders need review again and may be missing from the list.
 * @param onHeld these orders wait for a decision about a resend.
 * @param onUncertain a request of several chunks failed, so an unknown part of the orders was moved.
 */
export function useReview(
  accountId: number,
  on: { onReturned: (ids: number[]) => void; onHeld: (ids: number[]) => void; onUncertain: () => void },
) {
  const { t } = useTranslation('review');
  const textOf = useProblemText();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const [moved, setMoved] = useState<Moved>(new Map());
  const undoable = useRef<Undoable[]>([]);
  const pending = useRef(new Set<number>());

  const move = useCallback((ids: Iterable<number>, to: ReviewState | null) => {
    setMoved((before) => {
      const after = new Map(before);
      for (const id of ids) to === null ? after.delete(id) : after.set(id, to);
      return after;
    });
  }, []);

  /** Sends the request and corrects the optimistic states; `before` is restored on failure. */
  async function settle(
    ids: number[],
    before: ReviewState | null,
    request: () => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome | null> {
    for (const id of ids) pending.current.add(id);
    try {
      const outcome = await request();
      for (const { order_id, review_state } of outcome.unchanged) move([order_id], review_state);
      const held = outcome.unchanged.filter((order) => order.held).map(({ order_id }) => order_id);
      const others = outcome.unchanged.length - held.length;
      if (others > 0) notices.show({ kind: 'bad', text: t('notice.unchanged', { count: others }) });
      if (held.length > 0) {
        notices.show({ kind: 'bad', text: t('notice.held', { count: held.length }) });
        on.onHeld(held);
      }
      return outcome;
    } catch (error) {
      move(ids, before);
      notices.show({ kind: 'bad', text: isProblem(error, 'order_not_found') ? t('notice.gone') : textOf(error) });
      if (ids.length > MAX_ORDERS_PER_REQUEST) on.onUncertain();
      return null;
    } finally {
      for (const id of ids) pending.current.delete(id);
      void queryClient.invalidateQueries({ queryKey: ['counts', accountId] });
      void queryClient.invalidateQueries({ queryKey: ['order', accountId] });
    }
  }

  async function undo(entry: Undoable): Promise<void> {
    undoable.current = undoable.current.filter((other) => other !== entry);
    notices.hide(entry.notice);
    // The change must have completed before it can be undone.
    const changed = (await entry.done)?.changed ?? [];
    if (changed.length === 0) return;
    move(changed, 'needs_review');
    const outcome = await settle(changed, entry.to, () => undoReview(accountId, changed));
    if (!outcome || outcome.changed.length === 0) return;
    notices.show({ text: t('notice.undone', { count: outcome.changed.length }) });
    on.onReturned(outcome.changed);
  }

  function change(ids: number[], to: ReviewState, reason?: string): void {
    if (ids.length === 0) return;
    move(ids, to);
    const done = settle(ids, null, () => review(accountId, ids, to, reason));
    if (to === 'needs_review') {
      notices.show({ text: t('notice.needs_review', { count: ids.length }) });
      return;
    }
    const entry: Undoable = { to, done, until: Date.now() + UNDO_MS, notice: 0 };
    const offer = (count: number) => {
      entry.notice = notices.show({
        text: t(`notice.${to}`, { count }),
        durationMs: entry.until - Date.now(),
        action: { label: t('common:action.undo'), run: () => void undo(entry) },
      });
    };
    offer(ids.length);
    void done.then((outcome) => {
      const count = outcome?.changed.length ?? 0;
      if (count === new Set(ids).size) return;
      notices.hide(entry.notice);
      if (count > 0 && undoable.current.includes(entry)) offer(count);
    });
    undoable.current = [...undoable.current.filter(({ until }) => until > Date.now()), entry];
  }

  function undoLast(): void {
    const last = undoable.current.findLast(({ until }) => until > Date.now());
    if (last) void undo(last);
  }

  /** Drops optimistic states after a reload, except those of pending requests. */
  const clearMoved = useCallback(
    () => setMoved((before) => new Map([...before].filter(([id]) => pending.current.has(id)))),
    [],
  );

  return { moved, clearMoved, change, undoLast };
}
