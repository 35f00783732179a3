import { Plus, Webhook } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { type Endpoint, useEndpoints, useEventLog } from '../../../api/events.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Button, CopyButton } from '../../../components/button.tsx';
import { Card, Fact } from '../../../components/card.tsx';
import { EmptyState, Loaded, LoadedOne, Skeleton } from '../../../components/loaded.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { WayBack } from '../../../components/tab-links.tsx';
import { Ago } from '../../../components/time.tsx';
import { eventsHref, useOpenedEndpoint } from '../../addresses.ts';
import { AttemptsCard } from './attempts-card.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointState, TypeName } from './endpoint-state.tsx';
import { EventLogCard } from './event-log-card.tsx';
import { NewEndpointDialog } from './new-endpoint-dialog.tsx';

/** The log of events of the account and the endpoints to which they are delivered, or one of them. */
export default function EventsTab(): ReactNode {
  const opened = useOpenedEndpoint();
  const log = useEventLog(useAccountId());
  if (opened !== null) return <EndpointPage key={opened} endpointId={opened} />;
  return (
    <Loaded query={log} skeleton={<Skeleton shape="blocks" count={2} />}>
      {(state) => (
        <>
          <EventLogCard log={state} />
          <EndpointsCard isEnabled={state.is_enabled} />
        </>
      )}
    </Loaded>
  );
}

/** The endpoints of the account. New ones need events. */
function EndpointsCard({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const { t } = useTranslation('events');
  const query = useEndpoints(useAccountId());
  const can = useCan();
  const [isCreating, setCreating] = useState(false);
  const hasNone = query.data?.length === 0;
  const create = isEnabled && can('develop') && (
    <Button Icon={Plus} kind="main" onClick={() => setCreating(true)}>
      {t('endpoints.create')}
    </Button>
  );
  return (
    <Card
      title={t('endpoints.title')}
      about={t('endpoints.about')}
      actions={
        <>
          <HelpLink page="events" anchor="endpoints" />
          {!hasNone && create}
        </>
      }
    >
      <Loaded query={query} skeleton={<Skeleton shape="rows" count={2} />}>
        {(endpoints) =>
          hasNone ? (
            <EmptyState
              icon={<Webhook size={22} />}
              title={t('endpoints.none')}
              text={t(isEnabled ? 'endpoints.noneAbout' : 'endpoints.needEvents')}
              action={create}
            />
          ) : (
            <ul className="plain lined-list is-wide">
              {endpoints.map((endpoint) => (
                <EndpointItem key={endpoint.endpoint_id} endpoint={endpoint} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isCreating && <NewEndpointDialog onClose={() => setCreating(false)} />}
    </Card>
  );
}

function EndpointItem({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const { endpoint_id, url, types } = endpoint;
  return (
    <li className="stack-tight">
      <p className="row">
        <Link href={eventsHref(useAccountId(), endpoint_id)} className="endpoint-url">
          <code dir="ltr">{url}</code>
        </Link>
      </p>
      <EndpointState endpoint={endpoint} />
      <p className="hint">{types === null ? t('types.all') : t('types.some', { count: types.length })}</p>
    </li>
  );
}

/** One endpoint: its state, its actions and the recent attempts to deliver to it. */
function EndpointPage({ endpointId }: { endpointId: string }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  return (
    <>
      <WayBack href={eventsHref(accountId)}>{t('endpoints.all')}</WayBack>
      <LoadedOne
        query={useEndpoints(accountId)}
        is={({ endpoint_id }) => endpoint_id === endpointId}
        gone={t('endpoints.gone')}
      >
        {(endpoint) => (
          <>
            <EndpointCard endpoint={endpoint} />
            <AttemptsCard endpoint={endpoint} />
          </>
        )}
      </LoadedOne>
    </>
  );
}

function EndpointCard({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const can = useCan();
  const { url, endpoint_id, created_at, types } = endpoint;
  return (
    <Card title={t('endpoint.title')} actions={<HelpLink page="events" anchor="failing" />}>
      <p className="row endpoint-url">
        <code dir="ltr">{url}</code>
        <CopyButton text={url} />
      </p>
      <EndpointState endpoint={endpoint} />
      <dl className="facts">
        <Fact name={t('endpoint.id')}>
          <code dir="ltr">{endpoint_id}</code>
        </Fact>
        <Fact name={t('endpoint.created')}>
          <Ago at={created_at} />
        </Fact>
        <Fact name={t('types.label')}>
          {types === null ? (
            t('types.all')
          ) : (
            <ul className="plain">
              {types.map((type) => (
                <li key={type}>
                  <TypeName type={type} />
                </li>
              ))}
            </ul>
          )}
        </Fact>
      </dl>
      {can('develop') && <EndpointActions endpoint={endpoint} />}
    </Card>
  );
}
