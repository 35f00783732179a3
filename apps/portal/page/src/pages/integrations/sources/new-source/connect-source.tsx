import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useAccountId } from '../../../../api/session.ts';
import type { Source } from '../../../../api/sources.ts';
import { HelpLink } from '../../../../components/help-link.tsx';
import { IdPrefix } from '../id-prefix.tsx';
import { SourceUrl } from '../source-item.tsx';
import { sourcesHref } from '../use-sources-view.ts';
import { SecretForm } from './secret-form.tsx';
import { type Step, Steps } from './steps.tsx';
import { TestStep } from './test-step.tsx';

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
