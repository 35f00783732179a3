import { Keyboard } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCan } from '../../api/session.ts';
import { IconButton } from '../../components/button.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { DecisionDialogs } from './decide/decision-dialogs.tsx';
import { DecisionStrip } from './decide/decision-strip.tsx';
import { useDeciding } from './decide/use-deciding.ts';
import { isAboutRequests } from './decide/use-decision-messages.ts';
import { FilterBar, FilterChips, StateTabs } from './list/filter-bar.tsx';
import { searchOf } from './list/filters.ts';
import { NextForMe, Viewers } from './list/list-head.tsx';
import { ReviewList } from './list/review-list.tsx';
import { useListNavigation } from './list/use-list-navigation.ts';
import { useLiveList } from './list/use-live-list.ts';
import { useOrderSearch } from './list/use-order-search.ts';
import { useOpenFirst, useReviewUrl } from './list/use-review-url.ts';
import { useExports, useSelection } from './list/use-selection.ts';
import { FIRST_WARNED } from './name-of-order.ts';
import { LazyOrderPane, useOrderPanePreload } from './order/lazy-order-pane.tsx';
import { HelpDialog, useShortcutSetting, useShortcuts } from './shortcuts.tsx';
import { useMediaQuery, WIDE_LIST, WIDE_SCREEN } from './use-media-query.ts';
import './order/order.css';
import './order/payload.css';
import './decide/dialogs.css';
import './review.css';

const PrintView = lazy(() => import('./print/print-view.tsx'));

/** The orders of an account, for review by dispatchers. */
export default function ReviewPage(): ReactNode {
  const { t } = useTranslation('review');
  const mayReview = useCan()('review');
  const url = useReviewUrl();
  const { accountId, openId, filters, addressOf, open } = url;
  const live = useLiveList(accountId, filters, openId);
  const { orders } = live;
  const search = searchOf(filters);
  const searched = useOrderSearch(accountId, search, 0);
  const found = search ? searched.data : undefined;
  const selection = useSelection(orders, filters, live.moved);
  const exports = useExports(accountId);
  useOrderPanePreload(orders.length > 0);
  const navigation = useListNavigation(orders, url);
  const isWide = useMediaQuery(WIDE_SCREEN);
  const isCompact = !useMediaQuery(WIDE_LIST) || openId !== null;
  const isCovered = openId !== null && !isWide;
  const openFirst = useOpenFirst(live, filters, navigation.enter);
  const searchBox = useRef<HTMLInputElement>(null);
  const [editing, setEditing] = useState<{ orderId: number; pointer: string } | null>(null);
  const [printing, setPrinting] = useState<number | null>(null);
  const [isHelping, setHelping] = useState(false);
  const [singleKeysOn, setSingleKeysOn] = useShortcutSetting();

  const state = { live, selection, navigation, url, isCompact };
  const deciding = useDeciding({ ...state, isSearching: openFirst.isPending, isCovered });
  const { orderOf, targetIds, requestReview, next } = deciding;
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
          n: next?.open,
          c: mayReview ? () => requestReview(targetIds(), 'confirmed') : undefined,
          r: mayReview ? () => requestReview(targetIds(), 'rejected') : undefined,
          e: mayReview ? editFirst : undefined,
          x: mayReview
            ? () => navigation.currentId !== null && !isCovered && selection.toggle(navigation.currentId)
            : undefined,
          u: mayReview ? () => live.undoLast() : undefined,
          p: mayReview && openId !== null ? () => setPrinting(openId) : undefined,
          '/': () => searchBox.current?.select(),
          '?': () => setHelping(true),
        },
    singleKeysOn,
  );

  const strip = (
    <DecisionStrip
      messages={live.messages}
      onUndo={(message) => live.undo(message)}
      onRetry={(message) => {
        if (message.to !== 'undone' && !isAboutRequests(message)) navigation.moveOff(new Set(message.ids));
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
      <div className="row review-top" inert={isCovered}>
        <h1 className="visually-hidden">{t('common:nav.orders')}</h1>
        <StateTabs
          counts={live.updates.counts}
          found={found}
          filters={filters}
          addressOf={addressOf}
          onOpen={url.forget}
        />
        <FilterBar filters={filters} onChange={url.filter} search={searchBox} onSubmit={openFirst.request} />
        {!isCompact && next && <NextForMe next={next} />}
        {!isCompact && <Viewers viewers={live.updates.viewers} />}
        <div className="row review-help">
          <IconButton label={t('help.title')} Icon={Keyboard} size={20} onClick={() => setHelping(true)} />
          <HelpLink page="review-orders" isIcon />
        </div>
        <FilterChips filters={filters} onChange={url.filter} />
      </div>
      <ReviewList
        {...state}
        isCovered={isCovered}
        found={found}
        next={next}
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
          listed={deciding.listed.get(openId)}
          movedTo={live.moved.get(openId)}
          target={live.updates.target}
          viewers={live.updates.viewers?.filter(({ order_id }) => order_id === openId).map(({ name }) => name)}
          hasKeys={singleKeysOn}
          editing={editing?.orderId === openId ? editing.pointer : null}
          onEdit={(pointer) => setEditing(pointer === null ? null : { orderId: openId, pointer })}
          onSnoozed={() => navigation.moveOff(new Set([openId]))}
          isPrinting={printing === openId}
          onPrint={(isOn) => setPrinting(isOn ? openId : null)}
          strip={isCovered && strip}
          onLoaded={live.replace}
          isDeliberate={deciding.isDeliberate}
          onReview={(to) => requestReview([openId], to)}
          onClose={navigation.close}
          onPrevious={index > 0 ? () => navigation.step(-1) : undefined}
          onNext={index < orders.length - 1 ? () => navigation.step(1) : undefined}
          position={index < 0 ? undefined : { at: index + 1, of: orders.length, isMore: live.list.hasNextPage }}
        />
      )}
      <DecisionDialogs deciding={deciding} openId={openId} open={open} />
      {exports.printed && (
        <Suspense>
          <PrintView accountId={accountId} orderIds={exports.printed} onClose={exports.endPrinting} />
        </Suspense>
      )}
      {isHelping && <HelpDialog isOn={singleKeysOn} onSwitch={setSingleKeysOn} onClose={() => setHelping(false)} />}
    </div>
  );
}
