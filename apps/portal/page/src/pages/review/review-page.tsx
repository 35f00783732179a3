import { useQueryClient } from '@tanstack/react-query';
import { Keyboard } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { decideResend, isHeld, isUndecided, type OrderDetail, type ReviewState } from '../../api/review.ts';
import { useCan } from '../../api/session.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { useNotices } from '../../components/notices.tsx';
import { DecisionDialogs } from './decide/decision-dialogs.tsx';
import { DecisionStrip } from './decide/decision-strip.tsx';
import { useDecisions, useDeliberatePress } from './decide/use-decisions.ts';
import { useUnsavedEdits } from './edit/drafts.ts';
import { HelpDialog } from './help-dialog.tsx';
import { FilterBar, FilterChips, StateTabs } from './list/filter-bar.tsx';
import { Viewers } from './list/list-head.tsx';
import { ReviewList } from './list/review-list.tsx';
import { useExports } from './list/use-exports.ts';
import { isRowInSight, useListNavigation } from './list/use-list-navigation.ts';
import { useLiveList } from './list/use-live-list.ts';
import { useOpenFirst, useReviewUrl } from './list/use-review-url.ts';
import { useSelection } from './list/use-selection.ts';
import { FIRST_WARNED, nameOfOrder, RESEND_PANEL } from './name-of-order.ts';
import { LazyOrderPane, useOrderPanePreload } from './order/lazy-order-pane.tsx';
import { orderKey, useShowChanged } from './order/use-order.ts';
import { useMediaQuery, WIDE_LIST, WIDE_SCREEN } from './use-media-query.ts';
import { useShortcutSetting, useShortcuts } from './use-shortcuts.ts';
import './list/list.css';
import './order/order.css';
import './order/payload.css';
import './decide/dialogs.css';
import './review.css';

const PrintView = lazy(() => import('./list/print-view.tsx'));

/** Whether the code of the order pane is loaded; before, it shows no order. */
const isPaneShown = () => document.querySelector('.order-pane h2') !== null;

/** The orders of an account, for review by dispatchers. */
export function ReviewPage(): ReactNode {
  const { t } = useTranslation('review');
  const mayReview = useCan()('review');
  const url = useReviewUrl();
  const { accountId, openId, filters, addressOf, open } = url;
  const live = useLiveList(accountId, filters, openId);
  const { orders } = live;
  const listed = useMemo(() => new Map(orders.map((order) => [order.order_id, order])), [orders]);
  const notices = useNotices();
  const queryClient = useQueryClient();
  const selection = useSelection(orders, filters, live.moved);
  const exports = useExports(accountId);
  useOrderPanePreload(orders.length > 0);
  const navigation = useListNavigation(orders, url);
  const isWide = useMediaQuery(WIDE_SCREEN);
  const isCompact = !useMediaQuery(WIDE_LIST) || openId !== null;
  const isCovered = openId !== null && !isWide;
  const openFirst = useOpenFirst(live, filters, navigation.enter);
  const search = useRef<HTMLInputElement>(null);
  const isDeliberate = useDeliberatePress(`${selection.ids.length > 0} ${navigation.currentId}`);
  const [editing, setEditing] = useState<{ orderId: number; pointer: string } | null>(null);
  const [isHelping, setHelping] = useState(false);
  const [singleKeysOn, setSingleKeysOn] = useShortcutSetting();

  const detailOf = (id: number) => queryClient.getQueryData<OrderDetail>(orderKey(accountId, id));
  const orderOf = (id: number) => listed.get(id) ?? detailOf(id)?.order;
  /** The orders that a key decides about, as far as they are shown: the selected ones, or else the current one. */
  const targetIds = () => {
    const { currentId } = navigation;
    // The reviewer already means the first result.
    if (openFirst.isPending) return [];
    if (selection.ids.length > 0 && !isCovered) return selection.ids;
    if (currentId === null || !navigation.isPainted() || !orderOf(currentId)) return [];
    if (openId !== null) return isPaneShown() && detailOf(openId) ? [openId] : [];
    if (isRowInSight(currentId)) return [currentId];
    navigation.reveal();
    return [];
  };
  const nameOf = (id: number) => nameOfOrder(orderOf(id));
  const stateOf = (id: number) => live.moved.get(id) ?? orderOf(id)?.review_state ?? filters.state;
  const hasUnsavedEdit = useUnsavedEdits();
  /** A value that is typed but not saved must not be lost by confirming the old one. */
  const isBeingEdited = (ids: readonly number[]) => {
    if (!ids.some(hasUnsavedEdit)) return false;
    notices.show({ kind: 'bad', text: t('notice.editing') });
    return true;
  };
  /** Blocks confirming the open order while a resend holds it, and shows the resend; the service rejects the others. */
  const isHeldHere = ([id, ...others]: readonly number[]) => {
    const detail = id !== undefined && id === openId && others.length === 0 && detailOf(id);
    if (!detail || !isHeld(detail)) return false;
    notices.show({ kind: 'bad', text: t('notice.held', { name: nameOfOrder(detail.order) }) });
    document.getElementById(RESEND_PANEL)?.focus();
    void queryClient.invalidateQueries({ queryKey: orderKey(accountId, id) });
    return true;
  };
  const move = (ids: number[], to: ReviewState, reason?: string) => {
    if (isBeingEdited(ids)) return;
    navigation.moveOff(new Set(ids));
    live.change(ids, to, nameOf, reason);
    selection.clear();
  };
  const isBlocked = (id: number) => orderOf(id)?.severity === 'blocks' || selection.isBlockedBeyond(id);
  const isResent = (id: number) => {
    const detail = detailOf(id);
    return detail ? isUndecided(detail) : orderOf(id)?.resent === 'undecided';
  };
  const showChanged = useShowChanged(accountId, live.replace);
  const acceptResend = async (id: number) => {
    const receipt_id = detailOf(id)?.resends[0]?.receipt_id;
    if (receipt_id) await showChanged(await decideResend(accountId, id, { receipt_id, decision: 'accepted' }));
  };
  const decisions = useDecisions(isResent, isBlocked, move);
  const requestReview = (ids: number[], to: ReviewState) => {
    if (!isDeliberate()) return;
    if (!mayReview || ids.length === 0 || (to !== 'needs_review' && ids.some((id) => stateOf(id) !== 'needs_review')))
      return;
    if (isBeingEdited(ids) || (to === 'confirmed' && isHeldHere(ids))) return;
    decisions.request(ids, to);
  };
  const editFirst = () => {
    const order = navigation.currentId === null ? undefined : orderOf(navigation.currentId);
    if (!order || (order.warning_count === 0 && order.blockers.length === 0)) return;
    if (openId === null) open(order.order_id);
    setEditing({ orderId: order.order_id, pointer: FIRST_WARNED });
  };
  const goBack = () => {
    if (openId !== null) navigation.close();
    else selection.clear();
  };
  /** The editor is about to open: letters are meant for it. */
  const isAwaitingEditor = editing?.pointer === FIRST_WARNED && editing.orderId === openId;
  useShortcuts(
    isAwaitingEditor
      ? { escape: () => setEditing(null) }
      : {
          j: () => navigation.step(1),
          k: () => navigation.step(-1),
          arrowdown: () => navigation.step(1),
          arrowup: () => navigation.step(-1),
          enter: () => navigation.currentId !== null && openId === null && open(navigation.currentId),
          escape: goBack,
          c: mayReview ? () => requestReview(targetIds(), 'confirmed') : undefined,
          r: mayReview ? () => requestReview(targetIds(), 'rejected') : undefined,
          e: mayReview ? editFirst : undefined,
          x: mayReview
            ? () => navigation.currentId !== null && !isCovered && selection.toggle(navigation.currentId)
            : undefined,
          u: mayReview ? () => live.undoLast() : undefined,
          '/': () => search.current?.select(),
          '?': () => setHelping(true),
        },
    singleKeysOn,
  );

  const strip = (
    <DecisionStrip
      messages={live.messages}
      onUndo={(message) => live.undo(message)}
      onRetry={(message) => {
        if (message.to !== 'undone') navigation.moveOff(new Set(message.ids));
        live.retry(message);
      }}
      onOpen={(message) => {
        live.dismiss(message);
        open(message.ids[0] ?? null);
      }}
      onClose={live.dismiss}
      onExpired={live.expire}
    />
  );
  const index = orders.findIndex(({ order_id }) => order_id === openId);
  return (
    <div className={openId === null ? 'review' : 'review has-order'}>
      <div className="review-top" inert={isCovered}>
        <h1 className="visually-hidden">{t('common:nav.review')}</h1>
        <StateTabs counts={live.updates.counts} filters={filters} addressOf={addressOf} onOpen={url.forget} />
        <FilterBar
          accountId={accountId}
          filters={filters}
          onChange={url.filter}
          search={search}
          onSubmit={openFirst.request}
        />
        {!isCompact && <Viewers viewers={live.updates.viewers ?? []} />}
        <div className="review-help">
          <button
            type="button"
            className="icon-button"
            aria-label={t('help.title')}
            title={t('help.title')}
            onClick={() => setHelping(true)}
          >
            <Keyboard aria-hidden="true" size={20} />
          </button>
          <HelpLink page="review-orders" isIcon />
        </div>
        <FilterChips filters={filters} onChange={url.filter} />
      </div>
      <ReviewList
        live={live}
        selection={selection}
        navigation={navigation}
        url={url}
        isCompact={isCompact}
        isCovered={isCovered}
        actions={{
          onReview: (to) => requestReview(selection.ids, to),
          onDownload: () => exports.download(selection.ids),
          onPrint: () => exports.print(selection.ids),
        }}
        strip={!isCovered && strip}
      />
      {openId !== null && (
        <LazyOrderPane
          accountId={accountId}
          orderId={openId}
          listed={listed.get(openId)}
          movedTo={live.moved.get(openId)}
          viewers={live.updates.viewers?.filter(({ order_id }) => order_id === openId).map(({ name }) => name)}
          editing={editing?.orderId === openId ? editing.pointer : null}
          onEdit={(pointer) => setEditing(pointer === null ? null : { orderId: openId, pointer })}
          strip={isCovered && strip}
          onLoaded={live.replace}
          isDeliberate={isDeliberate}
          onReview={(to) => requestReview([openId], to)}
          onClose={navigation.close}
          onPrevious={index > 0 ? () => navigation.step(-1) : undefined}
          onNext={index < orders.length - 1 ? () => navigation.step(1) : undefined}
          position={index < 0 ? undefined : { at: index + 1, of: orders.length, isMore: live.list.hasNextPage }}
        />
      )}
      <DecisionDialogs
        decisions={decisions}
        orderOf={orderOf}
        acceptResend={acceptResend}
        openId={openId}
        compare={(id) => {
          decisions.cancel();
          open(id);
        }}
      />
      {exports.printed && (
        <Suspense>
          <PrintView accountId={accountId} orderIds={exports.printed} onClose={exports.endPrinting} />
        </Suspense>
      )}
      {isHelping && <HelpDialog isOn={singleKeysOn} onSwitch={setSingleKeysOn} onClose={() => setHelping(false)} />}
    </div>
  );
}
