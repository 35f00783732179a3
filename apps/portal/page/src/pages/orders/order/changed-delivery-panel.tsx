import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import {
  type ChangedDelivery,
  isOpen,
  isUndecided,
  type Order,
  type OrderDetail,
  type ReviewState,
} from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Actor, joinNames } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { ChangeList } from '../../../components/change-list.tsx';
import { displayedChanges, fieldLabel, fieldText, isSameValue, valueAt } from '../../../components/order-values.ts';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago } from '../../../components/time.tsx';
import { CHANGED_DELIVERY_PANEL } from '../name-of-order.ts';
import './changed-delivery-panel.css';

type Decision = NonNullable<ChangedDelivery['decision']>;

/** The changed deliveries of an order: the newest compared with the order and with its decision, earlier ones below. */
export function ChangedDeliveryPanel(props: {
  detail: OrderDetail;
  /** The optimistic state after an action on this page. */
  state: ReviewState;
  isBusy: boolean;
  /** Whether single-key shortcuts are on. */
  hasKeys: boolean;
  onDecide: (choice: { receipt_id: string; decision: Decision }) => void;
}): ReactNode {
  const { detail, state, isBusy, hasKeys, onDecide } = props;
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const can = useCan();
  const titleId = useId();
  const [newest, ...earlier] = detail.resends;
  if (!newest) return null;
  const { receipt_id } = newest;
  return (
    <section
      id={CHANGED_DELIVERY_PANEL}
      tabIndex={-1}
      className={isOpen(newest) ? 'changed-delivery-panel is-undecided' : 'changed-delivery-panel'}
      aria-labelledby={titleId}
    >
      <div className="spread">
        <h3 id={titleId}>{t('resend.title')}</h3>
        <Link href={`/accounts/${accountId}/receipts/${receipt_id}`} className="hint changed-delivery-when">
          <Ago at={newest.received_at} />
        </Link>
      </div>
      <About changedDelivery={newest} detail={detail} state={state} />
      <Comparison order={detail.order} changedDelivery={newest} />
      {can('review') && isUndecided(detail) && state === 'needs_review' && (
        <DecisionButtons
          key={receipt_id}
          isFinishedOnly={isFinishedOnly(newest)}
          removed={newest.changes.filter(isRemoval).map(({ pointer }) => fieldLabel(t, pointer))}
          isBusy={isBusy}
          hasKeys={hasKeys}
          onDecide={(decision) => onDecide({ receipt_id, decision })}
        />
      )}
      <HelpLink page="changed-orders" anchor="decide" />
      {earlier.length > 0 && (
        <details>
          <summary className="hint">{t('resend.earlier', { count: earlier.length })}</summary>
          <ol className="plain stack-tight">
            {earlier.map((changedDelivery) => (
              <li key={changedDelivery.receipt_id}>
                <p className="hint">
                  <Ago at={changedDelivery.received_at} /> {changedDelivery.is_outdated && t('resend.outdated')}{' '}
                  <Decided changedDelivery={changedDelivery} />
                </p>
                <ChangeList changes={changedDelivery.changes} />
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

/**
 * The buttons keep the focus while busy. When they disappear, or a newer changed delivery replaces theirs, the panel gets the focus, so that no
 * key press accepts an unread changed delivery.
 */
function DecisionButtons(props: {
  /** Names of the fields that the new version removes. */
  removed: readonly string[];
  /** There is no new version to use. */
  isFinishedOnly: boolean;
  isBusy: boolean;
  hasKeys: boolean;
  onDecide: (choice: Decision) => void;
}): ReactNode {
  const { removed, isFinishedOnly, isBusy, hasKeys, onDecide } = props;
  const { t } = useTranslation('review');
  const fields = joinNames(removed);
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const buttons = row.current;
    return () => {
      if (buttons?.contains(document.activeElement)) document.getElementById(CHANGED_DELIVERY_PANEL)?.focus();
    };
  }, []);
  const buttonProps = (decision: Decision) => ({
    'aria-disabled': isBusy,
    onClick: () => !isBusy && onDecide(decision),
  });
  return (
    <div ref={row} className="row">
      <Button {...buttonProps('refused')}>{t('resend.refuse')}</Button>
      {!isFinishedOnly && (
        <Button kind="main" {...buttonProps('accepted')} aria-keyshortcuts={hasKeys ? 'V' : undefined}>
          {fields ? t('resend.acceptRemoving', { fields }) : t('resend.accept')}
        </Button>
      )}
      {!isFinishedOnly && hasKeys && <kbd>V</kbd>}
    </div>
  );
}

/** Whether a change takes a value away. The code of an emirate goes with its name. */
function isRemoval({ pointer, from, to, cut }: ChangedDelivery['changes'][number]): boolean {
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  return !cut && pointer !== '/emirate_code' && isEmpty(to) && !isEmpty(from);
}

/** The changed delivery whose version a reviewer can choose for the order now; undefined if there is none. */
export function usableVersion(detail: OrderDetail, state: ReviewState): ChangedDelivery | undefined {
  const [newest] = detail.resends;
  return newest && state === 'needs_review' && isUndecided(detail) && !isFinishedOnly(newest) ? newest : undefined;
}

/** Whether the platform sent no new value, but has finished with the order. */
const isFinishedOnly = ({ changes }: ChangedDelivery) => changes.every(({ pointer }) => pointer === '/finished');

/** The decision, or what happens without one. */
function About(props: { changedDelivery: ChangedDelivery; detail: OrderDetail; state: ReviewState }): ReactNode {
  const { changedDelivery, detail, state } = props;
  const { t } = useTranslation('review');
  const can = useCan();
  if (changedDelivery.is_outdated) return <p className="changed-delivery-about">{t('resend.about.outdated')}</p>;
  if (changedDelivery.decision !== null) {
    return (
      <p>
        <Decided changedDelivery={changedDelivery} />
      </p>
    );
  }
  const isWaiting = state === 'needs_review' && detail.hold_resends;
  const decidable = state !== 'needs_review' ? state : isWaiting ? 'hold' : 'ignore';
  const inReview = can('review') ? decidable : isWaiting ? 'waits' : 'unchanged';
  const isWithoutChoice = state === 'needs_review' && can('review') && isFinishedOnly(changedDelivery);
  const about = isWithoutChoice ? (isWaiting ? 'finished' : 'unchanged') : inReview;
  return (
    <p className="changed-delivery-about">
      {t(`resend.about.${about}`, { accept: t('resend.accept'), refuse: t('resend.refuse') })}
    </p>
  );
}

function Decided({
  changedDelivery: { decision, decided_by, decided_at },
}: {
  changedDelivery: ChangedDelivery;
}): ReactNode {
  const { t } = useTranslation('review');
  if (decision === null || decided_by === null || decided_at === null) return null;
  return (
    <>
      {t(`resend.${decision}`)} <Actor actor={decided_by} />, <Ago at={decided_at} />
    </>
  );
}

/** What a version says beside its content, by pointer, as keys below `resend`. */
const MEANINGS: Readonly<Record<string, string>> = { '/cancelled': 'orderedAgain', '/finished': 'finished' };

/** Per field: the order's value, the value sent last and, if the order was changed since, the value sent before. */
function Comparison({ order, changedDelivery }: { order: Order; changedDelivery: ChangedDelivery }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <ul className="plain stack-tight changed-delivery-fields">
      {displayedChanges(changedDelivery.changes).map(({ pointer, from, to, cut }) => {
        const now = valueAt(order, pointer);
        const meaning = MEANINGS[pointer];
        if (meaning)
          return (
            <li key={pointer}>
              <p>{t(`resend.${meaning}`)}</p>
            </li>
          );
        const values = cut ? { again: null } : { now, again: to, ...(!isSameValue(now, from) && { before: from }) };
        return (
          <li key={pointer}>
            <h4>{fieldLabel(t, pointer)}</h4>
            <dl>
              {Object.entries(values).map(([name, value]) => (
                <div key={name} className={`changed-delivery-${name}`}>
                  <dt className="hint">{t(`resend.${name}`)}</dt>
                  <dd>
                    <bdi>
                      {cut
                        ? t('resend.cut')
                        : name === 'again' && isRemoval({ pointer, from, to })
                          ? t('resend.removed')
                          : fieldText(t, pointer, value)}
                    </bdi>
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        );
      })}
    </ul>
  );
}
