import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Source } from '../../../../api/sources.ts';
import { HelpLink } from '../../../../components/help-link.tsx';
import { IdPrefix } from '../id-prefix.tsx';
import { SourceUrl } from '../source-item.tsx';
import { SecretPart } from './secret-part.tsx';
import { Steps } from './steps.tsx';
import { TestStep } from './test-step.tsx';

interface ConnectProps {
  source: Source;
  /** The secret that was just created. */
  secret: string | null;
  onSecret: (secret: string | null) => void;
}

/** The second and third step: what to do in the platform, and the first delivery. */
export function ConnectSource(props: ConnectProps): ReactNode {
  const { t } = useTranslation('sources');
  const [step, setStep] = useState<'connect' | 'test'>('connect');
  const { source } = props;
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
      {step === 'connect' ? (
        <ConnectStep {...props} onNext={() => setStep('test')} />
      ) : (
        <TestStep source={source} onBack={() => setStep('connect')} />
      )}
      <p className="visually-hidden" role="status">
        {t(`step.${step}`)}
      </p>
    </section>
  );
}

/** Topics that a step names. */
function topicsOf({ settings }: Source) {
  const { order = [], cancellation = [] } = settings.topics ?? {};
  return { orders: order.join(', '), cancellations: cancellation.join(', ') };
}

function ConnectStep({ source, secret, onSecret, onNext }: ConnectProps & { onNext: () => void }): ReactNode {
  const { t } = useTranslation('sources');
  const { preset, settings } = source;
  const header = 'header' in settings.signature ? settings.signature.header : '';
  const steps = t(`connect.${preset}`, { returnObjects: true, header, ...topicsOf(source) }) as string[];
  return (
    <>
      <div className="stack-tight">
        <h3>{t('connect.url')}</h3>
        <SourceUrl url={source.url} />
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
      <SecretPart source={source} secret={secret} onSecret={onSecret} />
      <div className="row">
        <button type="button" className="button button-main" onClick={onNext}>
          {t('connect.next')}
        </button>
      </div>
    </>
  );
}
