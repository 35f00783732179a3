import type { ReactNode } from 'react';
import { useEventLog } from '../../../api/events.ts';
import { useAccountId } from '../../../api/session.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { EndpointPage } from './endpoint-page.tsx';
import { EndpointsCard } from './endpoints-card.tsx';
import { EventLogCard } from './event-log-card.tsx';
import { useOpenedEndpoint } from './use-events-view.ts';
import './events.css';

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
