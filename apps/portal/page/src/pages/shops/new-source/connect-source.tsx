import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useAccountId, useSession } from '../../../api/session.ts';
import type { Source } from '../../../api/sources.ts';
import { Card } from '../../../components/card.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { sourcesHref } from '../../addresses.ts';
import { IdPrefix, SourceUrl } from '../source-dialogs.tsx';
import { LifeTable } from './life-table.tsx';
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
