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

/** The API counts no further. */
const MAX_COUNTED = 10_000;

/** Whether the endpoint gets deliveries, and why not; what is not delivered yet, and until when two secrets sign. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { disabled, failing_since, waiting, pending, previous_until } = endpoint;
  const { t } = useTranslation('events');
  const state: State = disabled ?? (failing_since === null ? 'working' : 'unreliable');
  return (
    <>
      <p className="row">
        <span className={`badge ${KINDS[state]}`}>{t(`state.${state}`)}</span>
        {state === 'unreliable' && failing_since !== null && (
          <span className="hint">
            {t('failingSince')} <Ago at={failing_since} />
          </span>
        )}
        {disabled !== null && <span className="hint">{t(`stateAbout.${disabled}`)}</span>}
      </p>
      <p className="hint row wide-gaps">
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
    <span>
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
    <ShownOnce
      title={t('secret.title')}
      note={t('secret.once')}
      about={t('secret.about')}
      text={secret}
      copy={t('secret.copy')}
      onClose={onClose}
    />
  );
}
