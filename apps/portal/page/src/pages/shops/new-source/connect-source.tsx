import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import { useReceipt } from '../../../api/receipts.ts';
import { useAccountId, useSession } from '../../../api/session.ts';
import {
  type Delivery,
  replaceSecret,
  type Source,
  useDeliveries,
  useMappings,
  usePreview,
} from '../../../api/sources.ts';
import { Button, CopyButton } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Form, SubmitButton } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { StateBadge } from '../../../components/state-badge.tsx';
import { Ago } from '../../../components/time.tsx';
import { useAction } from '../../../components/use-action.ts';
import { mappingHref, sourcesHref } from '../../addresses.ts';
import { parseTree } from '../mapping/delivery-tree.tsx';
import { MappedOrder } from '../mapping/mapped-order.tsx';
import { formOf } from '../mapping/mapping-form.ts';
import { Problems, problemsOf } from '../mapping/mapping-problems.tsx';
import { IdPrefix, SecretField, SourceUrl } from '../source-dialogs.tsx';
import { LifeTable } from './life-table.tsx';
import { type Step, Steps } from './new-source.tsx';
import { useUnfinishedSecrets } from './unfinished.ts';

const POLL_INTERVAL_MS = 1000;

/** The third step: waits for a delivery, and shows the newest one with the order made of it. */
function TestStep({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const deliveries = useDeliveries(accountId, source.source_number);
  const [newest] = deliveries.data?.deliveries ?? [];
  const { rejected = 0, ping = 0, ignored: ofOthers = 0, finished = 0 } = source.counts;
  const ignored = ofOthers + finished;
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
            <Link href={`/accounts/${accountId}/rejected`}>{t('test.seeRejected')}</Link>
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
  const { t, i18n } = useTranslation(['sources', 'review']);
  const accountId = useAccountId();
  const receipt = useReceipt(accountId, delivery.receipt_id, POLL_INTERVAL_MS);
  const mappings = useMappings(accountId, source.source_number);
  const orderId = receipt.data?.order_id ?? receipt.data?.duplicate_of?.order_id;
  const mapping = mappings.data?.[0]?.mapping;
  const preview = usePreview(accountId, mapping ?? null, delivery.raw ?? '');
  const problems =
    mapping && preview.data
      ? problemsOf(
          { t, i18n },
          { preview: preview.data, form: formOf(mapping), changed: [], document: parseTree(delivery.raw ?? '') },
        )
      : null;
  return (
    <div className="stack">
      <p className="note">
        <StateBadge state={receipt.data?.status ?? 'received'} />
        <span>
          {t('test.arrived')} <Ago at={delivery.received_at} />
        </span>
        {orderId != null && <Link href={`/accounts/${accountId}/orders/${orderId}`}>{t('test.openOrder')}</Link>}
        <Link href={mappingHref(accountId, source.source_number, delivery.receipt_id)}>{t('action.mapping')}</Link>
      </p>
      {problems && <Problems problems={problems} />}
      {delivery.raw !== null && <MappedOrder preview={preview} idPrefix={source.id_prefix} />}
    </div>
  );
}

/** The steps after a source was created: its platform, what to do there, and the first delivery. */
export function ConnectSource({ source, step }: { source: Source; step: Step }): ReactNode {
  const { t } = useTranslation('sources');
  // The form before it may have been scrolled to its end.
  useEffect(() => window.scrollTo(0, 0), []);
  return (
    <Card title={<bdi>{source.name}</bdi>} actions={<HelpLink page="sources" anchor="connect" />}>
      <Steps current={step} />
      {step === 'platform' && <CreatedStep source={source} />}
      {step === 'connect' && <ConnectStep source={source} />}
      {step === 'test' && <TestStep source={source} />}
      <p className="visually-hidden" role="status">
        {t(`step.${step}`)}
      </p>
    </Card>
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

/** The page of the guides for senders, served by intake; those of platforms have the name of their preset. */
function Guide({ preset }: { preset: Source['preset'] }): ReactNode {
  const { t } = useTranslation('sources');
  const { intake_url } = useSession();
  const page = preset === 'custom' || preset === 'standard-webhooks' ? 'other-platforms' : preset;
  return (
    <p>
      <a href={`${intake_url}/docs/senders/${page}`} target="_blank" rel="noreferrer">
        {t('connect.guide')}
      </a>
    </p>
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
        <Guide preset={preset} />
      </div>
      <LifeTable source={source} />
      <SecretForm source={source} />
    </>
  );
}

/** The secret, and the way to the next step, which stores what was pasted. Shopify shows its own secret; other platforms take ours, or have their own. */
function SecretForm({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { created, pasted, keepSecrets } = useUnfinishedSecrets(source.source_number);
  const [isAsked, setAsked] = useState(false);
  const [wasPasted] = useState(pasted !== '');
  const showTest = () => navigate(sourcesHref(accountId, 'test', source.source_number));
  const storing = useAction({
    mutationFn: async () => {
      await replaceSecret(accountId, source.source_number, { secret: pasted.trim(), overlap: 'none' });
      keepSecrets({ created: null, pasted: null });
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      showTest();
    },
  });
  const submit = () => {
    if (pasted.trim() !== '') storing.mutate();
    else if (isMissing(source)) setAsked(true);
    else showTest();
  };
  const field = (
    <SecretField
      value={pasted}
      onChange={(value) => keepSecrets({ pasted: value })}
      hint={t(`secret.where.${source.preset}`)}
      error={isAsked && pasted.trim() === '' ? t('secret.missing') : null}
    />
  );
  const isShopify = source.preset === 'shopify';
  return (
    <Form className="stack narrow" onSubmit={submit}>
      <div className="stack-tight">
        <h3>{t('secret.heading')}</h3>
        {isShopify && source.secret_replaced && <p className="note">{t('secret.stored')}</p>}
        {!isShopify && created !== null && <ShownSecret secret={created} />}
        {!isShopify && created === null && <p className="hint">{t('secret.hidden')}</p>}
        {isShopify ? (
          field
        ) : (
          <details open={wasPasted}>
            <summary>{t('secret.own')}</summary>
            {field}
          </details>
        )}
      </div>
      {storing.error !== null && <ProblemNote error={storing.error} />}
      <div className="row">
        <SubmitButton action={storing}>{t('connect.next')}</SubmitButton>
        {isAsked && pasted.trim() === '' && <Button onClick={showTest}>{t('secret.later')}</Button>}
      </div>
    </Form>
  );
}

/** Whether no delivery can be authentic yet: the secret that was created for Shopify is shown nowhere. */
function isMissing({ preset, secret_replaced, counts }: Source): boolean {
  const { rejected: _, ...authentic } = counts;
  return preset === 'shopify' && !secret_replaced && Object.keys(authentic).length === 0;
}

function ShownSecret({ secret }: { secret: string }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <>
      <p className="hint">{t('secret.once')}</p>
      <p className="row">
        <code dir="ltr" className="secret">
          {secret}
        </code>
        <CopyButton text={secret} label={t('secret.copy')} />
      </p>
    </>
  );
}
