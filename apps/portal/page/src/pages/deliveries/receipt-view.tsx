import type { TFunction } from 'i18next';
import { RotateCcw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { isUnmapped, type ReceiptDetail, useReceipt } from '../../api/receipts.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { Card, Dotted, Fact, Mono } from '../../components/card.tsx';
import { ChangeList } from '../../components/change-list.tsx';
import { Loaded, Skeleton } from '../../components/loaded.tsx';
import { formatCount } from '../../components/numbers.ts';
import { HelpLink } from '../../components/page-header.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { WayBack } from '../../components/tab-links.tsx';
import { fullTime } from '../../components/time.tsx';
import { mappingHref } from '../addresses.ts';
import { REDRIVE, RedriveDialog } from './redrive-dialog.tsx';
import { Timeline } from './timeline.tsx';

/** The details of one receipt. */
export function ReceiptView({ receiptId }: { receiptId: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  return (
    <div className="stack">
      <WayBack href={`/accounts/${accountId}/receipts`}>{t('common:nav.receipts')}</WayBack>
      <Loaded query={useReceipt(accountId, receiptId)} skeleton={<Skeleton shape="blocks" count={2} />}>
        {(receipt) => <ReceiptContent receipt={receipt} />}
      </Loaded>
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
          <Card title={t('timeline')} className="stack-tight">
            <Timeline events={receipt.events} />
          </Card>
        </div>
        <div className="stack">
          {receipt.changes.length > 0 && (
            <Card title={t('changes.title')} about={t('changes.about')} className="stack-tight">
              <ChangeList changes={receipt.changes} />
            </Card>
          )}
          {receipt.warnings.length > 0 && (
            <Card title={t('warnings', { count: receipt.warnings.length })} className="stack-tight">
              <ul className="plain stack-tight">
                {receipt.warnings.map((warning) => (
                  <li key={warning.pointer + warning.code}>
                    {i18n.exists(`review:warning.${warning.code}`) ? (
                      t(`review:warning.${warning.code}`)
                    ) : (
                      <span dir="auto">{warning.detail}</span>
                    )}{' '}
                    <Mono isHint>
                      {warning.pointer || '/'} · {warning.code}
                    </Mono>
                  </li>
                ))}
              </ul>
            </Card>
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
  const isUnmappable = error.code === 'mapping_failed';
  const { source_number: sourceNumber, receipt_id: receiptId } = receipt;
  return (
    <section className={`card stack failure ${isDead ? 'is-bad' : 'is-warn'}`} aria-labelledby="failure-title">
      <h2 id="failure-title">
        {t(isDead ? 'failed.dead' : 'failed.retried')}: {t(`error.${error.code}.name`, { defaultValue: error.code })}
      </h2>
      <CauseNote code={error.code} detail={error.detail} />
      {receipt.next_attempt_at && <p>{t('nextAttempt', { time: fullTime(receipt.next_attempt_at) })}</p>}
      {isDead && (
        <div className="row">
          {can('develop') && isUnmappable && sourceNumber !== null && (
            <Link className="button button-main" href={mappingHref(accountId, sourceNumber, receiptId)}>
              {t('editMapping')}
            </Link>
          )}
          {can(...REDRIVE) && (
            // A mapping is corrected before its delivery is processed again.
            <Button Icon={RotateCcw} kind={isUnmappable ? undefined : 'main'} onClick={() => setRedriving(true)}>
              {t(error.code === 'idempotency_key_reused' ? 'redrive.ownOrder' : 'redrive.one')}
            </Button>
          )}
          <HelpLink page="failed-receipts" anchor="errors" />
        </div>
      )}
      {isRedriving && (
        <RedriveDialog path={`/accounts/${accountId}/receipts/${receiptId}`} onClose={() => setRedriving(false)} />
      )}
    </section>
  );
}

function Summary({ receipt }: { receipt: ReceiptDetail }): ReactNode {
  const { t } = useTranslation('receipts');
  const base = `/accounts/${useAccountId()}`;
  const { receipt_id, order_id, duplicate_of, channel, source, received_at, attempts } = receipt;
  const orderLink = (id: number | null) => <Link href={`${base}/orders/${id}`}>{t('fact.orderNumber', { id })}</Link>;
  return (
    <section className="card">
      <dl className="facts">
        <Fact name={t('fact.receipt')}>
          <Mono>{receipt_id}</Mono>
        </Fact>
        {order_id !== null && <Fact name={t('fact.order')}>{orderLink(order_id)}</Fact>}
        {duplicate_of && (
          <Fact name={t('fact.original')}>
            {orderLink(duplicate_of.order_id)}
            {', '}
            <Link href={`${base}/receipts/${duplicate_of.receipt_id}`}>{t('fact.itsReceipt')}</Link>
          </Fact>
        )}
        <Fact name={t('fact.channel')}>
          <Dotted>
            {t(`common:channel.${channel}`)}
            {source && <bdi>{source.name}</bdi>}
          </Dotted>
        </Fact>
        {source?.platform_id && (
          <Fact name={t('fact.platformId')}>
            <bdi>{source.platform_id}</bdi>
          </Fact>
        )}
        <Fact name={t('fact.received')}>{fullTime(received_at)}</Fact>
        <Fact name={t('fact.attempts')}>{formatCount(attempts)}</Fact>
      </dl>
    </section>
  );
}

function Payload({ receipt }: { receipt: ReceiptDetail }): ReactNode {
  const { t } = useTranslation('receipts');
  const text = receipt.payload ?? receipt.payload_base64;
  const { delivery } = receipt;
  if (delivery === null) return <PayloadCard title={t('payload.title')} about={aboutPayload(t, receipt)} text={text} />;
  const isText = 'payload' in delivery;
  return (
    <>
      <PayloadCard
        title={t('payload.title')}
        about={t(isText ? 'payload.about' : 'payload.base64')}
        text={isText ? delivery.payload : delivery.payload_base64}
      />
      <PayloadCard title={t('payload.mappedTitle')} about={t('payload.mapped')} text={text} />
    </>
  );
}

function PayloadCard({ title, about, text }: { title: string; about: string; text: string | null }): ReactNode {
  return (
    <Card title={title} about={about} className="stack-tight" actions={text !== null && <CopyButton text={text} />}>
      {text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
        <pre className="code receipt-payload" tabIndex={0}>
          {text}
        </pre>
      )}
    </Card>
  );
}

function aboutPayload(t: TFunction<'receipts'>, { payload, payload_base64, erased_at }: ReceiptDetail): string {
  if (payload === null && payload_base64 === null) return t('payload.gone');
  if (erased_at !== null) return t('payload.erased', { time: fullTime(erased_at) });
  return t(payload === null ? 'payload.base64' : 'payload.about');
}

/** Why receipts fail, and what to do about it. `detail` stands in for a code without texts. */
export function CauseNote({ code, detail = '' }: { code: string; detail?: string }): ReactNode {
  const { t } = useTranslation('receipts');
  const todo = t(`error.${code}.todo`, { defaultValue: '' });
  return (
    <div className="stack-tight">
      <p>{t(`error.${code}.detail`, { defaultValue: detail })}</p>
      {todo && (
        <p>
          <strong>{t('failed.todo')}:</strong> {todo}
        </p>
      )}
    </div>
  );
}
