import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { type Endpoint, removeEndpoint, switchEndpoint, testEndpoint } from '../../../api/events.ts';
import { useAccountId } from '../../../api/session.ts';
import { Confirm } from '../../../components/confirm.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { useAction } from '../../../components/use-action.ts';
import { ResendDialog } from './resend-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { TestOutcome } from './test-outcome.tsx';
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
