import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useReceipt } from '../../../../api/receipts.ts';
import { useAccountId } from '../../../../api/session.ts';
import { type Delivery, type Source, useDeliveries, useMappings, usePreview } from '../../../../api/sources.ts';
import { HelpLink } from '../../../../components/help-link.tsx';
import { ProblemNote } from '../../../../components/problem-note.tsx';
import { StateBadge } from '../../../../components/state-badge.tsx';
import { Ago } from '../../../../components/time.tsx';
import { tabHref } from '../../tabs.ts';
import { IdPrefix } from '../id-prefix.tsx';
import { MappedOrder } from '../mapping/mapped-order.tsx';
import { SourceUrl } from '../source-item.tsx';
import { sourcesHref } from '../use-sources-view.ts';
import { SecretForm } from './secret-form.tsx';
import { type Step, Steps } from './steps.tsx';

const POLL_INTERVAL_MS = 1000;

/** The third step: waits for a delivery, and shows the newest one with the order made of it. */
function TestStep({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const deliveries = useDeliveries(accountId, source.source_number);
  const [newest] = deliveries.data ?? [];
  const { rejected = 0, ping = 0, ignored = 0 } = source.counts;
  return (
    <>
      <p>{t(`test.${source.preset}`)}</p>
      <div className="stack" aria-live="polite">
        {deliveries.isError && <ProblemNote error={deliveries.error} retry={() => void deliveries.refetch()} />}
        {!newest && <p className="note">{t('test.waiting')}</p>}
        {!newest && ping > 0 && <p className="hint">{t('test.ping')}</p>}
        {!newest && ignored > 0 && <p className="hint">{t('test.ignored', { count: ignored })}</p>}
        {rejected > 0 && (
          <p className={newest ? 'hint' : 'note note-bad'}>
            {t('test.rejected', { count: rejected })}{' '}
            <Link href={tabHref(accountId, 'rejected')}>{t('test.seeRejected')}</Link>
          </p>
        )}
        {newest && <p className="visually-hidden">{t('test.arrived')}</p>}
      </div>
      {newest && <Arrived key={newest.receipt_id} source={source} delivery={newest} />}
      <div className="row">
        <Link className="button" href={sourcesHref(accountId, 'connect', source.source_number)}>
          {t('test.back')}
        </Link>
        <Link className="button" href={sourcesHref(accountId)}>
          {t('test.done')}
        </Link>
      </div>
    </>
  );
}

function Arrived({ source, delivery }: { source: Source; delivery: Delivery }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const receipt = useReceipt(accountId, delivery.receipt_id, POLL_INTERVAL_MS);
  const mappings = useMappings(accountId, source.source_number);
  const orderId = receipt.data?.order_id ?? receipt.data?.duplicate_of?.order_id;
  const preview = usePreview(accountId, mappings.data?.[0]?.mapping ?? null, delivery.raw ?? '');
  return (
    <div className="stack">
      <p className="note">
        <StateBadge state={receipt.data?.status ?? 'received'} />
        <span>
          {t('test.arrived')} <Ago at={delivery.received_at} />
        </span>
        {orderId != null && <Link href={`/accounts/${accountId}/review/${orderId}`}>{t('test.openOrder')}</Link>}
        <Link href={sourcesHref(accountId, 'mapping', source.source_number)}>{t('action.mapping')}</Link>
      </p>
      {delivery.raw !== null && <MappedOrder preview={preview} />}
    </div>
  );
}

/** The steps after a source was created: its platform, what to do there, and the first delivery. */
export function ConnectSource({ source, step }: { source: Source; step: Step }): ReactNode {
  const { t } = useTranslation('sources');
  // The form before it may have been scrolled to its end.
  useEffect(() => window.scrollTo(0, 0), []);
  return (
    <section className="card stack" aria-labelledby="connect-title">
      <header className="spread">
        <h2 id="connect-title">
          <bdi>{source.name}</bdi>
        </h2>
        <HelpLink page="sources" anchor="connect" />
      </header>
      <Steps current={step} />
      {step === 'platform' && <CreatedStep source={source} />}
      {step === 'connect' && <ConnectStep source={source} />}
      {step === 'test' && <TestStep source={source} />}
      <p className="visually-hidden" role="status">
        {t(`step.${step}`)}
      </p>
    </section>
  );
}

/** The first step of a source that exists: its platform stays as it was chosen. */
function CreatedStep({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <>
      <p className="note">{t('new.created', { platform: t(`preset.${source.preset}`) })}</p>
      <div className="row">
        <Link className="button button-main" href={sourcesHref(useAccountId(), 'connect', source.source_number)}>
          {t('new.next')}
        </Link>
      </div>
    </>
  );
}

/** Topics that a step names. */
function topicsOf({ settings }: Source) {
  const { order = [], cancellation = [] } = settings.topics ?? {};
  return { orders: order.join(', '), cancellations: cancellation.join(', ') };
}

function ConnectStep({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const { preset, settings } = source;
  const header = 'header' in settings.signature ? settings.signature.header : '';
  const steps = t(`connect.${preset}`, { returnObjects: true, header, ...topicsOf(source) }) as string[];
  return (
    <>
      <div className="stack-tight">
        <h3>{t('connect.url')}</h3>
        {source.url !== null && <SourceUrl url={source.url} />}
        <IdPrefix source={source} />
      </div>
      <div className="stack-tight">
        <h3>{t('connect.todo', { platform: t(`preset.${preset}`) })}</h3>
        <ol className="stack-tight connect-steps">
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </div>
      <SecretForm source={source} />
    </>
  );
}
