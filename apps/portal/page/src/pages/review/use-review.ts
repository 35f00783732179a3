import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { MAX_ORDERS_PER_REQUEST, type ReviewOutcome, type ReviewState, review, undoReview } from '../../api/review.ts';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';

/** How long a notice offers to take it back, in milliseconds; the service allows it a little longer. */
const UNDO_SHOWN = 7000;

/** Where orders stand that were moved on this page: ahead of what the loaded list says of them. */
export type Moved = ReadonlyMap<number, ReviewState>;

interface Undoable {
  to: ReviewState;
  done: Promise<ReviewOutcome | null>;
  until: number;
  notice: number;
}

/**
 * Confirms, rejects and reopens orders. They leave the list at once; should the service refuse, they come back, and a notice says why.
 *
 * @param onReturned these need review again, and the list may not have them any more.
 * @param onHeld these wait for a decision about what was sent again of them.
 * @param onUncertain only some of very many were moved, nobody knows which.
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
  const underWay = useRef(new Set<number>());

  const move = useCallback((ids: Iterable<number>, to: ReviewState | null) => {
    setMoved((before) => {
      const after = new Map(before);
      for (const id of ids) to === null ? after.delete(id) : after.set(id, to);
      return after;
    });
  }, []);

  /** Does what moves orders on the service, and puts right what was shown too early; `before` is where they stood. */
  async function settle(
    ids: number[],
    before: ReviewState | null,
    ask: () => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome | null> {
    for (const id of ids) underWay.current.add(id);
    try {
      const outcome = await ask();
      for (const { order_id, review_state } of outcome.unchanged) move([order_id], review_state);
      const held = outcome.unchanged.filter((one) => one.held).map(({ order_id }) => order_id);
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
      for (const id of ids) underWay.current.delete(id);
      void queryClient.invalidateQueries({ queryKey: ['counts', accountId] });
      void queryClient.invalidateQueries({ queryKey: ['order', accountId] });
    }
  }

  async function undo(entry: Undoable): Promise<void> {
    undoable.current = undoable.current.filter((one) => one !== entry);
    notices.hide(entry.notice);
    // What is still on its way can only be taken back once it has arrived.
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
    const entry: Undoable = { to, done, until: Date.now() + UNDO_SHOWN, notice: 0 };
    const offer = (count: number) => {
      entry.notice = notices.show({
        text: t(`notice.${to}`, { count }),
        lasts: entry.until - Date.now(),
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

  /** The list was loaded anew and knows by itself where they stand, all but those that are being moved just now. */
  const forget = useCallback(
    () => setMoved((before) => new Map([...before].filter(([id]) => underWay.current.has(id)))),
    [],
  );

  return { moved, forget, change, undoLast };
}
