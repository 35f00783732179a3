import { type ComponentProps, type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { OrderDetail, ReviewState } from '../../../api/review.ts';
import { Actor } from '../../../components/actor.tsx';
import { ChangeList } from '../../../components/change-list.tsx';
import { NOTE } from '../../../components/drafts.ts';
import { Skeleton } from '../../../components/loaded.tsx';
import { Ago } from '../../../components/time.tsx';
import type { Editing } from '../edit/editing.ts';
import { ChangedDeliveryPanel } from './changed-delivery-panel.tsx';
import { CrossHighlightArea } from './cross-highlight.tsx';
import { OrderBlockers } from './order-blockers.tsx';
import { OrderFields } from './order-fields.tsx';
import { OrderNotes } from './order-notes.tsx';
import { RawPayload } from './raw-payload.tsx';
import { EarlierOrders, SimilarOrders } from './related-orders.tsx';
import './order-facts.css';

/** All that an order consists of, below its head: what blocks it, related orders and deliveries, its fields, notes, payload and history. */
export function OrderBody(props: {
  detail: OrderDetail;
  /** The optimistic state after an action on this page. */
  state: ReviewState;
  editing: Editing;
  isBusy: boolean;
  hasKeys: boolean;
  onDecide: ComponentProps<typeof ChangedDeliveryPanel>['onDecide'];
  accept: (changed: OrderDetail) => Promise<void>;
}): ReactNode {
  const { detail, state, editing, isBusy, hasKeys, onDecide, accept } = props;
  const { t } = useTranslation('review');
  const isErased = detail.erased_at !== null;
  return (
    <CrossHighlightArea>
      {!isErased && <OrderBlockers order={detail.order} editing={editing} />}
      <SimilarOrders similar={detail.similar} />
      <EarlierOrders earlier={detail.earlier} />
      <ChangedDeliveryPanel detail={detail} state={state} isBusy={isBusy} hasKeys={hasKeys} onDecide={onDecide} />
      <div className="order-columns">
        <OrderFields detail={detail} editing={editing} />
        <div className="order-side">
          <OrderNotes
            orderId={detail.order.order_id}
            isErased={isErased}
            notes={detail.notes}
            draft={editing.drafts[NOTE]}
            keep={editing.keep}
            onAdded={accept}
          />
          {detail.raw ? (
            <RawPayload text={detail.raw.text} detail={detail} editing={editing} />
          ) : (
            <p className="hint raw">{t('raw.gone')}</p>
          )}
        </div>
        <OrderHistory history={detail.history} />
      </div>
    </CrossHighlightArea>
  );
}

/** In place of the whole order, so that nothing moves when its parts are there. */
export function OrderSkeleton(): ReactNode {
  return (
    <div className="order-columns">
      <Skeleton shape="rows" count={8} />
      <div className="order-side">
        <Skeleton shape="blocks" count={1} />
      </div>
    </div>
  );
}

/** The events of an order, newest first. */
function OrderHistory({ history }: Pick<OrderDetail, 'history'>): ReactNode {
  const { t } = useTranslation('review');
  const titleId = useId();
  if (history.length === 0) return null;
  return (
    <section className="stack-tight history" aria-labelledby={titleId}>
      <h3 id={titleId}>{t('history.title')}</h3>
      <ol className="plain">
        {history.map((entry) => (
          <li key={entry.at + entry.action}>
            <p>
              <strong>{t(`history.${entry.action}`)}</strong> <Actor actor={entry.by} />{' '}
              <span className="hint">
                <Ago at={entry.at} />
              </span>
            </p>
            {entry.reason !== null && (
              <p>
                <bdi>{entry.reason}</bdi>
              </p>
            )}
            {entry.changes_omitted && <p className="hint">{t('history.omitted')}</p>}
            {entry.changes && (
              <ChangeList
                changes={entry.changes.map(({ pointer, before, after }) => ({ pointer, from: before, to: after }))}
              />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
