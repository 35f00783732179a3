import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { type Endpoint, useEndpoints } from '../../../api/events.ts';
import { useCan } from '../../../api/permissions.ts';
import { useAccountId } from '../../../api/session.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { HelpLink } from '../../../components/help-link.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { Ago } from '../../../components/time.tsx';
import { AttemptsCard } from './attempts-card.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointFacts, EndpointState } from './endpoint-state.tsx';
import { TypeName } from './type-name.tsx';
import { eventsHref } from './use-events-view.ts';

/** One endpoint: its state, its actions and the recent attempts to deliver to it. */
export function EndpointPage({ endpointId }: { endpointId: string }): ReactNode {
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
