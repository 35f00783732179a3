import type { TFunction } from 'i18next';
import { ArrowLeft, RotateCcw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { isUnmapped, type ReceiptDetail, useReceipt } from '../../api/receipts.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { ChangeList } from '../../components/change-list.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { formatCount } from '../../components/numbers.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { fullTime } from '../../components/time.tsx';
import { CauseNote } from './receipt-rows.tsx';
import { REDRIVE, RedriveDialog } from './redrive-dialog.tsx';
import { Timeline } from './timeline.tsx';

/** The details of one receipt. */
export function ReceiptView({ receiptId }: { receiptId: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const query = useReceipt(accountId, receiptId);
  return (
    <div className="stack">
      <Link href={`/accounts/${accountId}/receipts`} className="row receipt-back">
        <ArrowLeft aria-hidden="true" size={16} className="flips" />
        {t('title')}
      </Link>
      {query.isPending && <Skeleton shape="blocks" count={2} />}
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.data && <ReceiptContent receipt={query.data} />}
    </div>
  );
}

function ReceiptContent({ receipt }: { receipt: ReceiptDetail }): ReactNode {
  const { t, i18n } = useTranslation(['receipts', 'review']);
  return (
    <>
      <header className="row">
        <h1>
          <bdi>{isUnmapped(receipt) ? t('noOrderId') : receipt.source_order_id}</bdi>
        </h1>
        <span role="status">
          <StateBadge state={receipt.status} />
        </span>
      </header>
      <div className="receipt-parts">
        <div className="stack">
          {receipt.error && <Failure receipt={receipt} error={receipt.error} />}
          <Summary receipt={receipt} />
          <section className="card stack-tight">
            <h2>{t('timeline')}</h2>
            <Timeline events={receipt.events} />
          </section>
        </div>
        <div className="stack">
          {receipt.changes.length > 0 && (
            <section className="card stack-tight">
              <h2>{t('changes.title')}</h2>
              <p className="hint">{t('changes.about')}</p>
              <ChangeList changes={receipt.changes} />
            </section>
          )}
          {receipt.warnings.length > 0 && (
            <section className="card stack-tight">
              <h2>{t('warnings', { count: receipt.warnings.length })}</h2>
              <ul className="plain stack-tight">
                {receipt.warnings.map((warning) => (
                  <li key={warning.pointer + warning.code}>
                    {i18n.exists(`review:warning.${warning.code}`) ? (
                      t(`review:warning.${warning.code}`)
                    ) : (
                      <span dir="auto">{warning.detail}</span>
                    )}{' '}
                    <bdi dir="ltr" className="mono hint">
                      {warning.pointer || '/'} · {warning.code}
                    </bdi>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <Payload receipt={receipt} />
        </div>
      </div>
    </>
  );
}

function Failure({ receipt, error }: { receipt: ReceiptDetail; error: { code: string; detail: string } }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const can = useCan();
  const [isRedriving, setRedriving] = useState(false);
  const isDead = receipt.status === 'dead';
  return (
    <section className={`card failure ${isDead ? 'is-bad' : 'is-warn'}`} aria-labelledby="failure-title">
      <h2 id="failure-title">
        {t(isDead ? 'failed.dead' : 'failed.retried')}: {t(`error.${error.code}.name`, { defaultValue: error.code })}
      </h2>
      <CauseNote code={error.code} detail={error.detail} />
      {receipt.next_attempt_at && <p>{t('nextAttempt', { time: fullTime(receipt.next_attempt_at) })}</p>}
      {isDead && (
        <div className="row">
          {can(...REDRIVE) && (
            <button type="button" className="button button-main" onClick={() => setRedriving(true)}>
              <RotateCcw aria-hidden="true" size={16} />
              {t(error.code === 'idempotency_key_reused' ? 'redrive.ownOrder' : 'redrive.one')}
            </button>
          )}
          {can('develop') && error.code === 'mapping_failed' && receipt.source_number !== null && (
            <Link
              className="button"
              href={`/accounts/${accountId}/integrations?tab=sources&show=mapping&source=${receipt.source_number}`}
            >
              {t('editMapping')}
            </Link>
          )}
          <HelpLink page="failed-receipts" anchor="errors" />
        </div>
      )}
      {isRedriving && (
        <RedriveDialog
          path={`/accounts/${accountId}/receipts/${receipt.receipt_id}`}
          onClose={() => setRedriving(false)}
        />
      )}
    </section>
  );
}

function Summary({ receipt }: { receipt: ReceiptDetail }): ReactNode {
  const { t } = useTranslation('receipts');
  const base = `/accounts/${useAccountId()}`;
  const { order_id, duplicate_of } = receipt;
  return (
    <section className="card">
      <dl className="facts">
        <dt>{t('fact.receipt')}</dt>
        <dd>
          <bdi dir="ltr" className="mono">
            {receipt.receipt_id}
          </bdi>
        </dd>
        {order_id !== null && (
          <>
            <dt>{t('fact.order')}</dt>
            <dd>
              <Link href={`${base}/review/${order_id}`}>{t('fact.orderNumber', { id: order_id })}</Link>
            </dd>
          </>
        )}
        {duplicate_of && (
          <>
            <dt>{t('fact.original')}</dt>
            <dd>
              <Link href={`${base}/review/${duplicate_of.order_id}`}>
                {t('fact.orderNumber', { id: duplicate_of.order_id })}
              </Link>
              {', '}
              <Link href={`${base}/receipts/${duplicate_of.receipt_id}`}>{t('fact.itsReceipt')}</Link>
            </dd>
          </>
        )}
        <dt>{t('fact.channel')}</dt>
        <dd>
          {t(`common:channel.${receipt.channel}`)}
          {receipt.source && (
            <>
              {' · '}
              <bdi>{receipt.source.name}</bdi>
            </>
          )}
        </dd>
        {receipt.source?.platform_id && (
          <>
            <dt>{t('fact.platformId')}</dt>
            <dd>
              <bdi>{receipt.source.platform_id}</bdi>
            </dd>
          </>
        )}
        <dt>{t('fact.received')}</dt>
        <dd>{fullTime(receipt.received_at)}</dd>
        <dt>{t('fact.attempts')}</dt>
        <dd>{formatCount(receipt.attempts)}</dd>
      </dl>
    </section>
  );
}

function Payload({ receipt }: { receipt: ReceiptDetail }): ReactNode {
  const { t } = useTranslation('receipts');
  const text = receipt.payload ?? receipt.payload_base64;
  const { delivery } = receipt;
  if (delivery === null) return <PayloadCard title={t('payload.title')} about={aboutPayload(t, receipt)} text={text} />;
  const about = t(delivery.payload_base64 === undefined ? 'payload.about' : 'payload.base64');
  return (
    <>
      <PayloadCard
        title={t('payload.title')}
        about={about}
        text={delivery.payload ?? delivery.payload_base64 ?? null}
      />
      <PayloadCard title={t('payload.mappedTitle')} about={t('payload.mapped')} text={text} />
    </>
  );
}

function PayloadCard({ title, about, text }: { title: string; about: string; text: string | null }): ReactNode {
  return (
    <section className="card stack-tight">
      <div className="spread">
        <h2>{title}</h2>
        {text !== null && <CopyButton text={text} />}
      </div>
      <p className="hint">{about}</p>
      {text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
        <pre className="code receipt-payload" tabIndex={0}>
          {text}
        </pre>
      )}
    </section>
  );
}

function aboutPayload(t: TFunction<'receipts'>, { payload, payload_base64, erased_at }: ReceiptDetail): string {
  if (payload === null && payload_base64 === null) return t('payload.gone');
  if (erased_at !== null) return t('payload.erased', { time: fullTime(erased_at) });
  return t(payload === null ? 'payload.base64' : 'payload.about');
}
