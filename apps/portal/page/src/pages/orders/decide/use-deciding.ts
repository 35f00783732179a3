import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { decideChangedDelivery, isHeld, type OrderDetail, type ReviewState } from '../../../api/review.ts';
import { useCan } from '../../../api/session.ts';
import { useUnsavedEdits } from '../../../components/drafts.ts';
import { useNotices } from '../../../components/notices.tsx';
import type { ListState } from '../list/list-state.ts';
import { isRowInSight } from '../list/use-list-navigation.ts';
import { CHANGED_DELIVERY_PANEL, nameOfOrder } from '../name-of-order.ts';
import { orderKey, useShowChanged } from '../order/use-order.ts';
import { useNextForMe } from './use-next-for-me.ts';

/** Whether the code of the order pane is loaded; before, it shows no order. */
const isPaneShown = () => document.querySelector('.order-pane h2') !== null;

/**
 * Which orders a key or a button decides about, and what speaks against it: a hurried press, a typed value, a changed delivery.
 *
 * @param props.isSearching the first result of a search is about to open.
 * @param props.isCovered the open order covers the list.
 */
export function useDeciding(props: ListState & { isSearching: boolean; isCovered: boolean }) {
  const { live, selection, navigation, isSearching, isCovered } = props;
  const { accountId, openId, filters } = props.url;
  const { t } = useTranslation('review');
  const mayReview = useCan()('review');
  const notices = useNotices();
  const queryClient = useQueryClient();
  const listed = useMemo(() => new Map(live.orders.map((order) => [order.order_id, order])), [live.orders]);
  const detailOf = (id: number) => queryClient.getQueryData<OrderDetail>(orderKey(accountId, id));
  /** The newest changed delivery of an order. */
  const versionOf = (id: number) => detailOf(id)?.resends[0]?.receipt_id;
  // The pane loads it; this only follows.
  const shownKey = orderKey(accountId, openId ?? 0);
  const { data: shown } = useQuery<OrderDetail>({ queryKey: shownKey, enabled: false });
  const version = shown?.resends[0]?.receipt_id;
  const isDeliberate = useDeliberatePress(`${selection.ids.length > 0} ${navigation.currentId} ${version}`);
  const orderOf = (id: number) => listed.get(id) ?? detailOf(id)?.order;
  /** The orders that a key decides about, as far as they are shown: the selected ones, or else the current one. */
  const targetIds = () => {
    const { currentId } = navigation;
    // The reviewer already means the first result.
    if (isSearching) return [];
    if (selection.ids.length > 0 && !isCovered) return selection.ids;
    if (currentId === null || !navigation.isPainted() || !orderOf(currentId)) return [];
    if (openId !== null) return isPaneShown() && detailOf(openId) ? [openId] : [];
    if (isRowInSight(currentId)) return [currentId];
    navigation.reveal();
    return [];
  };
  const nameOf = (id: number) => nameOfOrder(orderOf(id));
  const stateOf = (id: number) => live.moved.get(id) ?? orderOf(id)?.review_state ?? filters.state;
  const next = useNextForMe({ url: props.url, navigation, stateOf });
  const hasUnsavedEdit = useUnsavedEdits();
  /** A value that is typed but not saved must not be lost by confirming the old one. */
  const isBeingEdited = (ids: readonly number[]) => {
    if (!ids.some(hasUnsavedEdit)) return false;
    notices.show({ kind: 'bad', text: t('notice.editing') });
    return true;
  };
  /** Blocks confirming the open order while a changed delivery holds it, and shows the changed delivery; the service rejects the others. */
  const isHeldHere = ([id, ...others]: readonly number[]) => {
    const detail = id !== undefined && id === openId && others.length === 0 && detailOf(id);
    if (!detail || !isHeld(detail)) return false;
    notices.show({ kind: 'bad', text: t('notice.held', { name: nameOfOrder(detail.order) }) });
    document.getElementById(CHANGED_DELIVERY_PANEL)?.focus();
    void queryClient.invalidateQueries({ queryKey: orderKey(accountId, id) });
    return true;
  };
  const move = (ids: number[], to: ReviewState, reason?: string) => {
    if (isBeingEdited(ids)) return;
    const isGiven = ids.length === 1 && ids[0] === openId && next.isGiven(openId);
    if (!isGiven) navigation.moveOff(new Set(ids));
    live.change(ids, to, nameOf, reason);
    selection.clear();
    if (isGiven) next.follow();
  };
  const isBlocked = (id: number) => orderOf(id)?.severity === 'blocks' || selection.isBeyondAs(id, 'blocked');
  // The list follows changed deliveries of all its orders. The detail of one that is not open may be old.
  const hasChangedDelivery = (id: number) =>
    orderOf(id)?.resent === 'undecided' || selection.isBeyondAs(id, 'undecided');
  const showChanged = useShowChanged(accountId, live.replace);
  const acceptChangedDelivery = async (id: number, receipt_id: string | undefined) => {
    if (receipt_id) await showChanged(await decideChangedDelivery(accountId, id, { receipt_id, decision: 'accepted' }));
  };
  const decisions = useDecisions(hasChangedDelivery, isBlocked, move);
  const requestReview = (ids: number[], to: ReviewState) => {
    if (!isDeliberate()) return;
    if (!mayReview || ids.length === 0 || (to !== 'needs_review' && ids.some((id) => stateOf(id) !== 'needs_review')))
      return;
    if (isBeingEdited(ids) || (to === 'confirmed' && isHeldHere(ids))) return;
    decisions.request(ids, to);
  };
  return {
    decisions,
    listed,
    orderOf,
    versionOf,
    targetIds,
    requestReview,
    acceptChangedDelivery,
    isDeliberate,
    /** Null where there is no such action. */
    next: mayReview && filters.state === 'needs_review' ? next : null,
  };
}

/** For this long after an order, or a version of it, appeared nobody can have read it, in milliseconds. */
const UNREAD_MS = 500;

/**
 * Whether the key or pointer that asks for a decision was pressed on what is shown, and not before that could be read. A held key, the second
 * click of a double click, and a click that began on another order do not count.
 *
 * @param shown identifies what is shown to decide about.
 * @returns asks about the event that is being handled.
 */
function useDeliberatePress(shown: string): () => boolean {
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
  return () => {
    const { shown: on, since } = current.current;
    return press.current.shown === on && press.current.at - since >= UNREAD_MS;
  };
}

/** More orders than this are decided only after their number was typed. */
const MAX_WITHOUT_TYPING = 50;

/** A question before a decision. */
type Question =
  | { kind: 'resent'; ids: number[]; resent: number[] }
  | { kind: 'blocked'; ids: number[]; blocked: number[] }
  | { kind: 'number'; ids: number[]; to: ReviewState }
  | { kind: 'reason'; ids: number[] };

/**
 * Leads from a requested decision over the questions that it needs to `decide`: which version of orders that were sent again, whether to
 * confirm orders that cannot be delivered, the number of very many orders, the reason of a rejection.
 */
function useDecisions(
  hasChangedDelivery: (id: number) => boolean,
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
    const resent = ids.filter(hasChangedDelivery);
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
