import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import {
  type Endpoint,
  removeEndpoint,
  rotateEndpoint,
  switchEndpoint,
  testEndpoint,
  useTestAttempt,
} from '../../../api/events.ts';
import type { Grace } from '../../../api/integrations.ts';
import { useAccountId } from '../../../api/session.ts';
import { Confirm } from '../../../components/confirm.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { FormButtons } from '../../../components/form-buttons.tsx';
import { formatDuration } from '../../../components/numbers.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { useAction } from '../../../components/use-action.ts';
import { GraceChoice } from '../grace-choice.tsx';
import { AttemptError, NewSecret } from './endpoint-state.tsx';
import { ResendDialog } from './resend-dialog.tsx';
import { eventsHref } from './use-events-view.ts';

type OpenDialog = 'resend' | 'rotate' | 'remove';

/** What can be done with an endpoint. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { endpoint_id, url, disabled } = endpoint;
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const [testId, setTestId] = useState<string | null>(null);
  const reload = () => queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
  const testing = useAction({
    mutationFn: () => testEndpoint(accountId, endpoint_id),
    onMutate: () => setTestId(null),
    onSuccess: setTestId,
  });
  const switching = useAction({
    mutationFn: (to: 'pause' | 'enable') => switchEndpoint(accountId, endpoint_id, to),
    onSuccess: reload,
  });
  const close = () => setOpen(null);
  return (
    <>
      <div className="row">
        <button type="button" className="button" disabled={testing.isPending} onClick={() => testing.mutate()}>
          {t('action.test')}
        </button>
        <button
          type="button"
          className="button"
          disabled={switching.isPending}
          onClick={() => switching.mutate(disabled === null ? 'pause' : 'enable')}
        >
          {t(disabled === null ? 'action.pause' : 'action.enable')}
        </button>
        <button type="button" className="button" onClick={() => setOpen('resend')}>
          {t('action.resend')}
        </button>
        <button type="button" className="button" onClick={() => setOpen('rotate')}>
          {t('action.rotate')}
        </button>
        <button type="button" className="button button-bad" onClick={() => setOpen('remove')}>
          {t('action.remove')}
        </button>
      </div>
      {testId !== null && <TestOutcome key={testId} endpointId={endpoint_id} eventId={testId} />}
      {testing.isError && <ProblemNote error={testing.error} />}
      {switching.isError && <ProblemNote error={switching.error} />}
      {open === 'resend' && <ResendDialog endpoint={endpoint} onClose={close} />}
      {open === 'rotate' && <RotateDialog endpoint={endpoint} onClose={close} />}
      {open === 'remove' && (
        <Confirm
          title={t('remove.title')}
          text={t('remove.about', { url })}
          label={t('remove.submit')}
          action={async () => {
            await removeEndpoint(accountId, endpoint_id);
            navigate(eventsHref(accountId), { replace: true });
            await reload();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

/** The outcome of a test event; waits for it. */
function TestOutcome({ endpointId, eventId }: { endpointId: string; eventId: string }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const query = useTestAttempt(accountId, endpointId, eventId);
  const attempt = query.data ?? null;
  const isMade = attempt !== null;
  useEffect(() => {
    if (!isMade) return;
    void queryClient.invalidateQueries({ queryKey: ['attempts', accountId, endpointId], exact: true });
    void queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
  }, [queryClient, accountId, endpointId, isMade]);
  if (query.isError) return <ProblemNote error={query.error} retry={() => void query.refetch()} />;
  return (
    <div role="status" className={`note ${isMade && attempt.error !== null ? 'note-bad' : ''}`}>
      {attempt === null && t('test.waiting')}
      {attempt?.error === null &&
        t('test.delivered', { id: attempt.status, duration: formatDuration(attempt.duration_ms) })}
      {attempt !== null && attempt.error !== null && (
        <p>
          {t('test.failed')} <AttemptError attempt={attempt} />
        </p>
      )}
    </div>
  );
}

/** Replaces the secret of an endpoint and shows the new one once. */
function RotateDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [overlap, setOverlap] = useState<Grace>('24h');
  const [secret, setSecret] = useState<string | null>(null);
  const rotating = useAction({
    mutationFn: async () => {
      const rotated = await rotateEndpoint(accountId, endpoint.endpoint_id, overlap);
      setSecret(rotated.secret);
      void queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotating.mutate();
  };
  return (
    <Dialog title={t(secret === null ? 'rotate.title' : 'secret.title')} onClose={onClose}>
      {secret === null ? (
        <form className="stack" onSubmit={submit}>
          <p>{t('rotate.about')}</p>
          <GraceChoice label={t('rotate.overlap')} value={overlap} onChange={setOverlap} />
          {endpoint.previous_until !== null && <p className="note note-warn">{t('rotate.again')}</p>}
          {rotating.error !== null && <ProblemNote error={rotating.error} />}
          <FormButtons submit={t('rotate.submit')} isBusy={rotating.isPending} onClose={onClose} />
        </form>
      ) : (
        <NewSecret secret={secret} onClose={onClose} />
      )}
    </Dialog>
  );
}
