import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type EventLogState, setEvents } from '../../../api/events.ts';
import { useAccountId, useCan, useSession } from '../../../api/session.ts';
import { Confirm } from '../../../components/confirm.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { HelpLink } from '../../../components/help-link.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Switch } from '../../../components/segments.tsx';
import { useAction } from '../../../components/use-action.ts';

/** Whether events are recorded, and how a program reads them. */
export function EventLogCard({ log }: { log: EventLogState }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <section className="card stack" aria-labelledby="events-title">
      <header className="spread">
        <h2 id="events-title">{t('title')}</h2>
        <HelpLink page="events" />
      </header>
      <p className="hint">{t('about')}</p>
      <RecordSwitch isEnabled={log.is_enabled} />
      <Stored log={log} />
      {log.is_enabled && <Feed />}
    </section>
  );
}

function RecordSwitch({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const can = useCan();
  const [isAsking, setAsking] = useState(false);
  const set = async (value: boolean) => {
    queryClient.setQueryData(['events', accountId], await setEvents(accountId, value));
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

function Stored({
  log: { is_enabled, first_sequence, last_sequence, unpublished },
}: {
  log: EventLogState;
}): ReactNode {
  const { t } = useTranslation('events');
  if (first_sequence === null || last_sequence === null)
    return <p className="hint">{t(is_enabled ? 'log.none' : 'log.noneDisabled')}</p>;
  return (
    <p className="hint row event-facts">
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
      <pre className="code secret" dir="ltr">
        {line}
      </pre>
      <div className="row">
        <CopyButton text={line} label={t('feed.copy')} />
      </div>
      <p className="hint">{t('feed.next')}</p>
    </section>
  );
}
