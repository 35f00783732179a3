import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { EventLogState } from '../../../api/events.ts';
import { useAccountId, useCan, useSession } from '../../../api/session.ts';
import { CopyButton } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Confirm } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { HelpLink } from '../../../components/page-header.tsx';
import { Switch } from '../../../components/segments.tsx';
import { SecretText } from '../../../components/shown-once.tsx';
import { useAction } from '../../../components/use-action.ts';

/** Whether events are recorded, and how a program reads them. */
export function EventLogCard({ log }: { log: EventLogState }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <Card title={t('title')} about={t('about')} actions={<HelpLink page="events" />}>
      <RecordSwitch isEnabled={log.is_enabled} />
      <Stored log={log} />
      {log.is_enabled && <Feed />}
    </Card>
  );
}

function RecordSwitch({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const can = useCan();
  const [isAsking, setAsking] = useState(false);
  const set = async (is_enabled: boolean) => {
    const path = `/accounts/${accountId}/events`;
    queryClient.setQueryData(['events', accountId], await call<EventLogState>('PUT', path, { body: { is_enabled } }));
  };
  const enabling = useAction({ mutationFn: () => set(true) });
  return (
    <>
      <div className="row">
        <Switch
          isOn={isEnabled}
          isBusy={enabling.isPending || !can('develop')}
          label={t('log.record')}
          onClick={() => (isEnabled ? setAsking(true) : enabling.mutate())}
        />
        <span className={isEnabled ? 'badge badge-good' : 'badge'}>{t(isEnabled ? 'log.on' : 'log.off')}</span>
      </div>
      {enabling.isError && <ProblemNote error={enabling.error} />}
      {isAsking && (
        <Confirm
          title={t('disable.title')}
          text={t('disable.about')}
          label={t('disable.submit')}
          action={() => set(false)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

function Stored({ log }: { log: EventLogState }): ReactNode {
  const { is_enabled, first_sequence, last_sequence, unpublished } = log;
  const { t } = useTranslation('events');
  if (first_sequence === null || last_sequence === null)
    return <p className="hint">{t(is_enabled ? 'log.none' : 'log.noneDisabled')}</p>;
  return (
    <p className="hint row wide-gaps">
      <span>{t('log.stored', { from: String(first_sequence), to: String(last_sequence) })}</span>
      {unpublished > 0 && <span>{t('log.unpublished', { count: unpublished })}</span>}
    </p>
  );
}

function Feed(): ReactNode {
  const { t } = useTranslation('events');
  const { intake_url } = useSession();
  const line = `curl -sS '${intake_url}/ingest/events?limit=100' -H 'Authorization: Bearer YOUR_API_KEY'`;
  return (
    <section className="stack-tight" aria-labelledby="feed-title">
      <h3 id="feed-title">{t('feed.title')}</h3>
      <p className="hint">{t('feed.about')}</p>
      <SecretText text={line} />
      <div className="row">
        <CopyButton text={line} label={t('feed.copy')} />
      </div>
      <p className="hint">{t('feed.next')}</p>
    </section>
  );
}
