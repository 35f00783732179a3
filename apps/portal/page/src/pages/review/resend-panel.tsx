import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { isHeld, type Order, type OrderDetail, type Resend, type ReviewState } from '../../api/review.ts';
import { useAccountId } from '../../api/session.ts';
import { ChangeList } from '../../parts/change-list.tsx';
import { fieldLabel, fieldText, isSameValue, readable, valueAt } from '../../parts/order-values.ts';
import { Ago } from '../../parts/time.tsx';
import './resend-panel.css';

/** Its id, by which it gets the focus. */
export const RESEND_PANEL = 'resend-panel';

type Decide = (
  made: { receipt_id: string; decision: 'accepted' | 'refused' },
  /** Runs when it is done. */
  done: () => void,
) => void;

/** What was sent again of an order with other content: the newest beside what the order says, and what there is to decide; the rest below. */
export function ResendPanel(props: {
  detail: OrderDetail;
  /** Where the order stands as far as this page knows, ahead of what was loaded. */
  state: ReviewState;
  isBusy: boolean;
  onDecide: Decide;
}): ReactNode {
  const { detail, state, isBusy, onDecide } = props;
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const titleId = useId();
  const [newest, ...earlier] = detail.resends;
  if (!newest) return null;
  const { receipt_id } = newest;
  const decide = (decision: 'accepted' | 'refused') =>
    // The buttons, of which one has the focus, are gone then.
    onDecide({ receipt_id, decision }, () => document.getElementById(RESEND_PANEL)?.focus());
  return (
    <section
      id={RESEND_PANEL}
      tabIndex={-1}
      className={newest.decision === null ? 'resend-panel is-undecided' : 'resend-panel'}
      aria-labelledby={titleId}
    >
      <div className="spread">
        <h3 id={titleId}>{t('resend.title')}</h3>
        <Link href={`/accounts/${accountId}/receipts/${receipt_id}`} className="resend-when">
          <Ago at={newest.received_at} />
        </Link>
      </div>
      <About resend={newest} detail={detail} state={state} />
      <Comparison order={detail.order} resend={newest} />
      {isHeld(detail) && state === 'needs_review' && (
        <div className="row">
          <button type="button" className="button" disabled={isBusy} onClick={() => decide('refused')}>
            {t('resend.refuse')}
          </button>
          <button type="button" className="button button-main" disabled={isBusy} onClick={() => decide('accepted')}>
            {t('resend.accept')}
          </button>
        </div>
      )}
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

/** What became of it, or what there is to do. */
function About(props: { resend: Resend; detail: OrderDetail; state: ReviewState }): ReactNode {
  const { resend, detail, state } = props;
  const { t } = useTranslation('review');
  if (resend.decision !== null) {
    return (
      <p>
        <Decided resend={resend} />
      </p>
    );
  }
  return <p>{t(`resend.about.${state !== 'needs_review' ? state : detail.hold_resends ? 'hold' : 'ignore'}`)}</p>;
}

function Decided({ resend: { decision, decided_by, decided_at } }: { resend: Resend }): ReactNode {
  const { t } = useTranslation('review');
  if (decision === null || decided_at === null) return null;
  return (
    <>
      {t(`resend.${decision}`)} <bdi dir="ltr">{decided_by}</bdi>, <Ago at={decided_at} />
    </>
  );
}

/** Field by field, what the order says now and what was sent again; and what was sent before, where the order says otherwise by now. */
function Comparison({ order, resend }: { order: Order; resend: Resend }): ReactNode {
  const { t } = useTranslation('review');
  return (
    <ul className="plain resend-fields">
      {readable(resend.changes).map(({ pointer, from, to }) => {
        const now = valueAt(order, pointer);
        const values = { now, again: to, ...(!isSameValue(now, from) && { before: from }) };
        return (
          <li key={pointer}>
            <h4>{fieldLabel(t, pointer)}</h4>
            <dl>
              {Object.entries(values).map(([name, value]) => (
                <div key={name} className={`resend-${name}`}>
                  <dt>{t(`resend.${name}`)}</dt>
                  <dd>
                    <bdi>{fieldText(t, pointer, value)}</bdi>
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
