import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { MAX_ORDERS_PER_REQUEST, type ReviewOutcome, type ReviewState, review, undoReview } from '../../api/review.ts';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';

/** How long a notice offers to undo, in milliseconds; the service allows a little longer. */
const UNDO_MS = 7000;

/** The states of orders after a decision on this page (at once) or by somebody else; they override the loaded list. */
export type Moved = ReadonlyMap<number, ReviewState>;

interface Undoable {
  to: ReviewState;
  done: Promise<ReviewOutcome | null>;
  nameOf: (id: number) => string;
  until: number;
  notice: number;
}

/**
 * Confirms, rejects and reopens orders optimistically. If the service rejects the change, the orders return to the list and a notice
 * gives the reason.
 *
 * @param onSettled the service's states of orders, for the loaded lists.
 * @param onReturned these orders need review again and may be missing from the list.
 * @param onHeld these orders wait for a decision about a resend.
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
  const notices = useNotices();
  const queryClient = useQueryClient();
  const [moved, setMoved] = useState<Moved>(new Map());
  const undoable = useRef<Undoable[]>([]);
  const pending = useRef(new Set<number>());
  const settledAt = useRef(new Map<number, number>());

  const move = useCallback((ids: Iterable<number>, to: ReviewState | null) => {
    setMoved((before) => {
      const after = new Map(before);
      for (const id of ids) to === null ? after.delete(id) : after.set(id, to);
      return after;
    });
  }, []);

  /** A notice about one order by its name, about several by their number. */
  const textAbout = (notice: string, ids: readonly number[], nameOf: (id: number) => string) =>
    t(`notice.${notice}`, { count: ids.length, name: ids[0] === undefined ? '' : nameOf(ids[0]) });

  /** Sends the request and corrects the optimistic states; `before` is restored on failure. */
  async function settle(
    ids: number[],
    { to, before, nameOf }: { to: ReviewState; before: ReviewState | null; nameOf: (id: number) => string },
    request: () => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome | null> {
    for (const id of ids) pending.current.add(id);
    try {
      const outcome = await request();
      for (const { order_id, review_state } of outcome.unchanged) move([order_id], review_state);
      on.onSettled(
        new Map([
          ...outcome.changed.map((id) => [id, to] as const),
          ...outcome.unchanged.map(({ order_id, review_state }) => [order_id, review_state] as const),
        ]),
      );
      const reasonOf = ({ held, review_state }: ReviewOutcome['unchanged'][number]) =>
        held ? 'held' : review_state === 'cancelled' ? 'cancelled' : 'unchanged';
      for (const [reason, unchanged] of Map.groupBy(outcome.unchanged, reasonOf)) {
        const about = unchanged.map(({ order_id }) => order_id);
        notices.show({ kind: 'bad', text: textAbout(reason, about, nameOf) });
        if (reason === 'held') on.onHeld(about);
      }
      return outcome;
    } catch (error) {
      move(ids, before);
      notices.show({ kind: 'bad', text: isProblem(error, 'order_not_found') ? t('notice.gone') : textOf(error) });
      if (ids.length > MAX_ORDERS_PER_REQUEST) on.onUncertain();
      return null;
    } finally {
      for (const id of ids) pending.current.delete(id);
      for (const id of ids) settledAt.current.set(id, performance.now());
      void queryClient.invalidateQueries({ queryKey: ['updates', accountId] });
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
    const { to: before, nameOf } = entry;
    const outcome = await settle(changed, { to: 'needs_review', before, nameOf }, () => undoReview(accountId, changed));
    if (!outcome || outcome.changed.length === 0) return;
    notices.show({ text: textAbout('undone', outcome.changed, nameOf) });
    on.onReturned(outcome.changed);
  }

  /** @param nameOf names an order in notices. */
  function change(wanted: number[], to: ReviewState, nameOf: (id: number) => string, reason?: string): void {
    const ids = wanted.filter((id) => !pending.current.has(id));
    if (ids.length === 0) return;
    move(ids, to);
    const done = settle(ids, { to, before: null, nameOf }, () => review(accountId, ids, to, reason));
    if (to === 'needs_review') {
      notices.show({ text: textAbout('needs_review', ids, nameOf) });
      return;
    }
    const entry: Undoable = { to, done, nameOf, until: Date.now() + UNDO_MS, notice: 0 };
    const offer = (about: number[]) => {
      entry.notice = notices.show({
        text: textAbout(to, about, nameOf),
        durationMs: entry.until - Date.now(),
        action: { label: t('common:action.undo'), run: () => void undo(entry) },
      });
    };
    offer(ids);
    void done.then((outcome) => {
      const changed = outcome?.changed ?? [];
      if (changed.length === new Set(ids).size) return;
      notices.hide(entry.notice);
      if (changed.length > 0 && undoable.current.includes(entry)) offer(changed);
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
    return newer;
  }

  return { moved, clearMoved, moveTo, change, undoLast };
}
