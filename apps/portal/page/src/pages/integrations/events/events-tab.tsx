import { type ReactNode, useState } from 'react';
import { type Endpoint, useEndpoints, useEventLog } from '../../../api/events.ts';
import { useAccountId } from '../../../api/session.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { EventLogCard } from './event-log-card.tsx';
import { eventsHref, useOpenedEndpoint } from './use-events-view.ts';
import './events.css';
import { ArrowLeft, Plus, Webhook } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useCan } from '../../../api/session.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { HelpLink } from '../../../components/help-link.tsx';
import { Ago } from '../../../components/time.tsx';
import { AttemptsCard } from './attempts-card.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointFacts, EndpointState, TypeName } from './endpoint-state.tsx';
import { NewEndpointDialog } from './new-endpoint-dialog.tsx';

/** The log of events of the account and the endpoints to which they are delivered, or one of them. */
export function EventsTab(): ReactNode {
  const opened = useOpenedEndpoint();
  const log = useEventLog(useAccountId());
  if (opened !== null) return <EndpointPage key={opened} endpointId={opened} />;
  if (log.isError) return <ProblemNote error={log.error} retry={() => void log.refetch()} />;
  if (log.isPending) return <Skeleton shape="blocks" count={2} />;
  return (
    <>
      <EventLogCard log={log.data} />
      <EndpointsCard isEnabled={log.data.is_enabled} />
    </>
  );
}

/** The endpoints of the account. New ones need events. */
function EndpointsCard({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const { t } = useTranslation('events');
  const endpoints = useEndpoints(useAccountId());
  const can = useCan();
  const [isCreating, setCreating] = useState(false);
  const hasNone = endpoints.data?.length === 0;
  const create = can('develop') && (
    <button type="button" className="button button-main" onClick={() => setCreating(true)}>
      <Plus aria-hidden="true" size={16} />
      {t('endpoints.create')}
    </button>
  );
  return (
    <section className="card stack" aria-labelledby="endpoints-title">
      <header className="spread">
        <h2 id="endpoints-title">{t('endpoints.title')}</h2>
        <div className="row">
          <HelpLink page="events" anchor="endpoints" />
          {isEnabled && !hasNone && create}
        </div>
      </header>
      <p className="hint">{t('endpoints.about')}</p>
      {endpoints.isError && <ProblemNote error={endpoints.error} retry={() => void endpoints.refetch()} />}
      {endpoints.isPending && <Skeleton shape="rows" count={2} />}
      {hasNone && (
        <EmptyState
          icon={<Webhook size={22} />}
          title={t('endpoints.none')}
          text={t(isEnabled ? 'endpoints.noneAbout' : 'endpoints.needEvents')}
          action={isEnabled && create}
        />
      )}
      {endpoints.data && !hasNone && (
        <ul className="plain endpoint-list">
          {endpoints.data.map((endpoint) => (
            <EndpointItem key={endpoint.endpoint_id} endpoint={endpoint} />
          ))}
        </ul>
      )}
      {isCreating && <NewEndpointDialog onClose={() => setCreating(false)} />}
    </section>
  );
}

function EndpointItem({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  return (
    <li className="stack-tight">
      <p className="row">
        <Link href={eventsHref(accountId, endpoint.endpoint_id)} className="endpoint-url">
          <code dir="ltr">{endpoint.url}</code>
        </Link>
      </p>
      <EndpointState endpoint={endpoint} />
      <EndpointFacts endpoint={endpoint} />
      <p className="hint">
        {endpoint.types === null ? t('types.all') : t('types.some', { count: endpoint.types.length })}
      </p>
    </li>
  );
}

/** One endpoint: its state, its actions and the recent attempts to deliver to it. */
function EndpointPage({ endpointId }: { endpointId: string }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  return (
    <>
      <Link href={eventsHref(accountId)} className="row endpoint-back">
        <ArrowLeft aria-hidden="true" size={16} className="flips" />
        {t('endpoints.all')}
      </Link>
      <Opened endpointId={endpointId} />
    </>
  );
}

function Opened({ endpointId }: { endpointId: string }): ReactNode {
  const { t } = useTranslation('events');
  const endpoints = useEndpoints(useAccountId());
  const endpoint = endpoints.data?.find(({ endpoint_id }) => endpoint_id === endpointId);
  if (endpoint)
    return (
      <>
        <EndpointCard endpoint={endpoint} />
        <AttemptsCard endpoint={endpoint} />
      </>
    );
  if (endpoints.isError) return <ProblemNote error={endpoints.error} retry={() => void endpoints.refetch()} />;
  // An endpoint that was just created may not be in the list yet.
  if (endpoints.isFetching) return <Skeleton shape="blocks" count={2} />;
  return <p className="note">{t('endpoints.gone')}</p>;
}

function EndpointCard({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const can = useCan();
  return (
    <section className="card stack" aria-labelledby="endpoint-title">
      <header className="spread">
        <h2 id="endpoint-title">{t('endpoint.title')}</h2>
        <HelpLink page="events" anchor="failing" />
      </header>
      <p className="row endpoint-url">
        <code dir="ltr">{endpoint.url}</code>
        <CopyButton text={endpoint.url} />
      </p>
      <EndpointState endpoint={endpoint} />
      <EndpointFacts endpoint={endpoint} />
      <dl className="facts">
        <dt>{t('endpoint.id')}</dt>
        <dd>
          <code dir="ltr">{endpoint.endpoint_id}</code>
        </dd>
        <dt>{t('endpoint.created')}</dt>
        <dd>
          <Ago at={endpoint.created_at} />
        </dd>
        <dt>{t('types.label')}</dt>
        <dd>
          {endpoint.types === null ? (
            t('types.all')
          ) : (
            <ul className="plain">
              {endpoint.types.map((type) => (
                <li key={type}>
                  <TypeName type={type} />
                </li>
              ))}
            </ul>
          )}
        </dd>
      </dl>
      {can('develop') && <EndpointActions endpoint={endpoint} />}
    </section>
  );
}
