import { Plus, Webhook } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { type Endpoint, useEndpoints } from '../../../api/events.ts';
import { useCan } from '../../../api/permissions.ts';
import { useAccountId } from '../../../api/session.ts';
import { EmptyState } from '../../../components/empty-state.tsx';
import { HelpLink } from '../../../components/help-link.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { EndpointFacts, EndpointState } from './endpoint-state.tsx';
import { NewEndpointDialog } from './new-endpoint-dialog.tsx';
import { eventsHref } from './use-events-view.ts';

/** The endpoints of the account. New ones need events. */
export function EndpointsCard({ isEnabled }: { isEnabled: boolean }): ReactNode {
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
