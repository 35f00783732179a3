import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Attempt, Endpoint } from '../../../api/events.ts';
import { ShownOnce } from '../../../components/shown-once.tsx';
import { Ago, fullTime } from '../../../components/time.tsx';

type State = 'working' | 'unreliable' | NonNullable<Endpoint['disabled']>;

const KINDS: Record<State, string> = {
  working: 'badge-good',
  unreliable: 'badge-warn',
  paused: '',
  gone: 'badge-bad',
  failing: 'badge-bad',
};

function stateOf({ disabled, failing_since }: Endpoint): State {
  return disabled ?? (failing_since === null ? 'working' : 'unreliable');
}

/** Whether the endpoint gets deliveries, and why not. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const state = stateOf(endpoint);
  return (
    <p className="row">
      <span className={`badge ${KINDS[state]}`}>{t(`state.${state}`)}</span>
      {state === 'unreliable' && endpoint.failing_since !== null && (
        <span className="hint">
          {t('failingSince')} <Ago at={endpoint.failing_since} />
        </span>
      )}
      {endpoint.disabled !== null && <span className="hint">{t(`stateAbout.${endpoint.disabled}`)}</span>}
    </p>
  );
}

/** The API counts no further. */
const MAX_COUNTED = 10_000;

/** What is not delivered yet, and until when two secrets sign. */
export function EndpointFacts({ endpoint: { waiting, pending, previous_until } }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <>
      <p className="hint row event-facts">
        <span>{t(waiting < MAX_COUNTED ? 'waiting' : 'waitingMany', { count: waiting })}</span>
        <span>{t(pending < MAX_COUNTED ? 'pending' : 'pendingMany', { count: pending })}</span>
      </p>
      {previous_until && <p className="hint">{t('rotate.until', { time: fullTime(previous_until) })}</p>}
    </>
  );
}

/** Why an attempt failed. A newer version may have stored a reason that this one does not know. */
export function AttemptError({ attempt: { error, status } }: { attempt: Attempt }): ReactNode {
  const { t, i18n } = useTranslation('events');
  if (error === null) return null;
  const isKnown = i18n.exists(`events:error.${error}`);
  return isKnown ? t(`error.${error}`, { id: status }) : <code dir="ltr">{error}</code>;
}

/** A type of events in words, with its code. A newer version may have stored a type that this one does not know. */
export function TypeName({ type }: { type: string }): ReactNode {
  const { t, i18n } = useTranslation('events');
  const name = i18n.exists(`events:type.${type}`) ? t(`type.${type}` as 'type.order.confirmed') : null;
  return (
    <span className="type-name">
      {name !== null && <span>{name} </span>}
      <code dir="ltr" className="hint">
        {type}
      </code>
    </span>
  );
}

/** The only place where the secret of an endpoint is shown. */
export function NewSecret({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <ShownOnce text={secret} copy={t('secret.copy')} onClose={onClose}>
      <p className="note note-warn">{t('secret.once')}</p>
      <pre className="code secret" dir="ltr">
        {secret}
      </pre>
      <p className="hint">{t('secret.about')}</p>
    </ShownOnce>
  );
}
