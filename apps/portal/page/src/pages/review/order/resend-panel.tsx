import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { isUndecided, type Order, type OrderDetail, type Resend, type ReviewState } from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Actor, joinNames } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { ChangeList } from '../../../components/change-list.tsx';
import { displayedChanges, fieldLabel, fieldText, isSameValue, valueAt } from '../../../components/order-values.ts';
import { HelpLink } from '../../../components/page-header.tsx';
import { Ago } from '../../../components/time.tsx';
import { RESEND_PANEL } from '../name-of-order.ts';
import './resend-panel.css';

type Decision = NonNullable<Resend['decision']>;

/** The resends of an order: the newest compared with the order and with its decision, earlier ones below. */
export function ResendPanel(props: {
  detail: OrderDetail;
  /** The optimistic state after an action on this page. */
  state: ReviewState;
  isBusy: boolean;
  onDecide: (choice: { receipt_id: string; decision: Decision }) => void;
}): ReactNode {
  const { detail, state, isBusy, onDecide } = props;
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const can = useCan();
  const titleId = useId();
  const [newest, ...earlier] = detail.resends;
  if (!newest) return null;
  const { receipt_id } = newest;
  return (
    <section
      id={RESEND_PANEL}
      tabIndex={-1}
      className={newest.decision === null ? 'resend-panel is-undecided' : 'resend-panel'}
      aria-labelledby={titleId}
    >
      <div className="spread">
        <h3 id={titleId}>{t('resend.title')}</h3>
        <Link href={`/accounts/${accountId}/receipts/${receipt_id}`} className="hint resend-when">
          <Ago at={newest.received_at} />
        </Link>
      </div>
      <About resend={newest} detail={detail} state={state} />
      <Comparison order={detail.order} resend={newest} />
      {can('review') && isUndecided(detail) && state === 'needs_review' && (
        <DecisionButtons
          key={receipt_id}
          removed={newest.changes.filter(isRemoval).map(({ pointer }) => fieldLabel(t, pointer))}
          isBusy={isBusy}
          onDecide={(decision) => onDecide({ receipt_id, decision })}
        />
      )}
      <HelpLink page="changed-orders" anchor="decide" />
      {earlier.length > 0 && (
        <details>
          <summary className="hint">{t('resend.earlier', { count: earlier.length })}</summary>
          <ol className="plain stack-tight">
            {earlier.map((resend) => (
              <li key={resend.receipt_id}>
                <p className="hint">
                  <Ago at={resend.received_at} /> <Decided resend={resend} />
                </p>
                <ChangeList changes={resend.changes} />
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

/**
 * The buttons keep the focus while busy. When they disappear, or a newer resend replaces theirs, the panel gets the focus, so that no
 * key press accepts an unread resend.
 */
function DecisionButtons(props: {
  /** Names of the fields that the new version removes. */
  removed: readonly string[];
  isBusy: boolean;
  onDecide: (choice: Decision) => void;
}): ReactNode {
  const { removed, isBusy, onDecide } = props;
  const { t } = useTranslation('review');
  const fields = joinNames(removed);
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const buttons = row.current;
    return () => {
      if (buttons?.contains(document.activeElement)) document.getElementById(RESEND_PANEL)?.focus();
    };
  }, []);
  const buttonProps = (decision: Decision) => ({
    'aria-disabled': isBusy,
    onClick: () => !isBusy && onDecide(decision),
  });
  return (
    <div ref={row} className="row">
      <Button {...buttonProps('refused')}>{t('resend.refuse')}</Button>
      <Button kind="main" {...buttonProps('accepted')}>
        {fields ? t('resend.acceptRemoving', { fields }) : t('resend.accept')}
      </Button>
    </div>
  );
}

/** Whether a change takes a value away. The code of an emirate goes with its name. */
function isRemoval({ pointer, from, to, cut }: Resend['changes'][number]): boolean {
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  return !cut && pointer !== '/emirate_code' && isEmpty(to) && !isEmpty(from);
}

/** The decision, or what happens without one. */
function About(props: { resend: Resend; detail: OrderDetail; state: ReviewState }): ReactNode {
  const { resend, detail, state } = props;
  const { t } = useTranslation('review');
  const can = useCan();
  if (resend.decision !== null) {
    return (
      <p>
        <Decided resend={resend} />
      </p>
    );
  }
  const isWaiting = state === 'needs_review' && detail.hold_resends;
  const decidable = state !== 'needs_review' ? state : isWaiting ? 'hold' : 'ignore';
  const about = can('review') ? decidable : isWaiting ? 'waits' : 'unchanged';
  return (
    <p className="resend-about">
      {t(`resend.about.${about}`, { accept: t('resend.accept'), refuse: t('resend.refuse') })}
    </p>
  );
}

function Decided({ resend: { decision, decided_by, decided_at } }: { resend: Resend }): ReactNode {
  const { t } = useTranslation('review');
  if (decision === null || decided_by === null || decided_at === null) return null;
  return (
    <>
      {t(`resend.${decision}`)} <Actor actor={decided_by} />, <Ago at={decided_at} />
    </>
  );
}

/** Per field: the order's value, the resent value and, if the order was changed since, the value sent before. */
function Comparison({ order, resend }: { order: Order; resend: Resend }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <ul className="plain stack-tight resend-fields">
      {displayedChanges(resend.changes).map(({ pointer, from, to, cut }) => {
        const now = valueAt(order, pointer);
        if (pointer === '/cancelled')
          return (
            <li key={pointer}>
              <p>{t('resend.orderedAgain')}</p>
            </li>
          );
        const values = cut ? { again: null } : { now, again: to, ...(!isSameValue(now, from) && { before: from }) };
        return (
          <li key={pointer}>
            <h4>{fieldLabel(t, pointer)}</h4>
            <dl>
              {Object.entries(values).map(([name, value]) => (
                <div key={name} className={`resend-${name}`}>
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
