import type { LifeRow } from '@orders/domain/sources/platform-states.ts';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useGet } from '../../../api/queries.ts';
import { useAccountId, useSession } from '../../../api/session.ts';
import type { Source } from '../../../api/sources.ts';
import { Card } from '../../../components/card.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { sourcesHref } from '../../addresses.ts';
import { IdPrefix, SourceUrl } from '../source-dialogs.tsx';
import { type Step, Steps } from './new-source.tsx';
import { SecretForm } from './secret-form.tsx';
import { TestStep } from './test-step.tsx';

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

/** An order that is a test has any payment; cancellations and ignored deliveries have none. */
const WITHOUT_PAYMENT: ReadonlySet<LifeRow['kind']> = new Set(['test', 'cancellation', 'ignored']);

/** What each status of the source's platform becomes, folded away; nothing for a source that belongs to no platform. */
function LifeTable({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const { source_number, preset } = source;
  const path = `/accounts/${accountId}/sources/${source_number}/life`;
  const { data } = useGet<{ life: LifeRow[] }>(['sources', accountId, source_number, 'life'], path);
  const life = data?.life ?? [];
  if (life.length === 0) return null;
  const title = t('life.title', { platform: t(`preset.${preset}`) });
  return (
    <details>
      <summary>{title}</summary>
      <DataTable
        label={title}
        rows={life}
        keyOf={({ kind, payment_state }) => `${kind} ${payment_state}`}
        columns={[
          {
            header: t('life.says'),
            cell: ({ says }) => (
              <span dir="ltr">{says.map((one) => (one === '*' ? t('life.other') : one)).join(', ')}</span>
            ),
          },
          { header: t('life.here'), cell: ({ kind }) => t(`life.kind.${kind}`) },
          {
            header: t('life.payment'),
            cell: ({ kind, payment_state }) => {
              if (payment_state !== null)
                return t(`choice.payment_state.${payment_state}` as 'choice.payment_state.paid', { ns: 'review' });
              return WITHOUT_PAYMENT.has(kind) ? '' : t('life.unknown');
            },
          },
        ]}
      />
      <p className="hint">{t('life.joined')}</p>
    </details>
  );
}
