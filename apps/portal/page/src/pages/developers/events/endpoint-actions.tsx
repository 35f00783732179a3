import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { call, isProblem } from '../../../api/client.ts';
import {
  type Attempt,
  type Endpoint,
  type EndpointWithSecret,
  endpointAt,
  resendEvents,
  useEventLog,
} from '../../../api/events.ts';
import { useGet } from '../../../api/queries.ts';
import { useAccountId } from '../../../api/session.ts';
import { ActionMenu } from '../../../components/action-menu.tsx';
import { Button } from '../../../components/button.tsx';
import { Field } from '../../../components/field.tsx';
import { Confirm, FormDialog } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { formatDuration } from '../../../components/numbers.ts';
import { useAction } from '../../../components/use-action.ts';
import { eventsHref } from '../../addresses.ts';
import { ReplaceDialog } from '../grace-choice.tsx';
import { AttemptError, NewSecret } from './endpoint-state.tsx';

const DIALOGS = ['resend', 'rotate', 'remove'] as const;

/** What can be done with an endpoint. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { endpoint_id, url, disabled, previous_until } = endpoint;
  const path = endpointAt(accountId, endpoint_id);
  const [open, setOpen] = useState<(typeof DIALOGS)[number] | null>(null);
  const [testId, setTestId] = useState<string | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const reload = () => queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
  const testing = useAction({
    mutationFn: async () => (await call<{ event_id: string }>('POST', `${path}/test`)).event_id,
    onMutate: () => setTestId(null),
    onSuccess: setTestId,
  });
  const to = disabled === null ? 'pause' : 'enable';
  const switching = useAction({
    mutationFn: (wanted: 'pause' | 'enable') => call('POST', `${path}/${wanted}`),
    onSuccess: reload,
  });
  const close = () => setOpen(null);
  return (
    <>
      <div className="row">
        <Button disabled={testing.isPending} onClick={() => testing.mutate()}>
          {t('action.test')}
        </Button>
        <Button disabled={switching.isPending} onClick={() => switching.mutate(to)}>
          {t(`action.${to}`)}
        </Button>
        <ActionMenu
          label={t('action.more')}
          actions={DIALOGS.map((name) => ({
            name: t(`action.${name}`),
            isDestructive: name === 'remove',
            run: () => setOpen(name),
          }))}
        />
      </div>
      {testId !== null && <TestOutcome key={testId} endpointId={endpoint_id} eventId={testId} />}
      {testing.isError && <ProblemNote error={testing.error} />}
      {switching.isError && <ProblemNote error={switching.error} />}
      {open === 'resend' && <ResendDialog endpoint={endpoint} onClose={close} />}
      {open === 'rotate' && (
        <ReplaceDialog
          title={t('rotate.title')}
          about={t('rotate.about')}
          label={t('rotate.overlap')}
          submit={t('rotate.submit')}
          replace={async (overlap) => {
            setSecret((await call<EndpointWithSecret>('POST', `${path}/secret`, { body: { overlap } })).secret);
            close();
            void reload();
          }}
          onClose={close}
        >
          {previous_until !== null && <p className="note note-warn">{t('rotate.again')}</p>}
        </ReplaceDialog>
      )}
      {secret !== null && <NewSecret secret={secret} onClose={() => setSecret(null)} />}
      {open === 'remove' && (
        <Confirm
          title={t('remove.title')}
          text={t('remove.about', { url })}
          label={t('remove.submit')}
          action={async () => {
            await call('DELETE', path);
            navigate(eventsHref(accountId), { replace: true });
            await reload();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

/** While a person waits. */
const TEST_INTERVAL_MS = 500;

/** The outcome of a test event; waits for it. */
function TestOutcome({ endpointId, eventId }: { endpointId: string; eventId: string }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const query = useGet(['attempts', accountId, endpointId, eventId], `${endpointAt(accountId, endpointId)}/attempts`, {
    query: { event_id: eventId },
    select: ({ attempts }: { attempts: Attempt[] }) => attempts[0] ?? null,
    refetchInterval: ({ state }) => (state.data?.attempts[0] ? false : TEST_INTERVAL_MS),
  });
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

const NUMBER = /^\s*[1-9]\d{0,14}\s*$/;

/** Has a range of stored events delivered again. */
function ResendDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const notices = useNotices();
  const log = useEventLog(accountId).data;
  const [range, setRange] = useState({ from: '', to: '' });
  const [isChecked, setChecked] = useState(false);
  const resending = useAction({
    mutationFn: (chosen: typeof range) =>
      resendEvents(accountId, endpoint.endpoint_id, Number(chosen.from), Number(chosen.to)),
    onSuccess: (count) => {
      if (count === 0) return;
      notices.show({ text: t('resend.requested', { count }) });
      void queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
      onClose();
    },
  });
  const errors = {
    from: NUMBER.test(range.from) ? null : t('resend.notNumber'),
    to: !NUMBER.test(range.to)
      ? t('resend.notNumber')
      : Number(range.to) < Number(range.from)
        ? t('resend.reversed')
        : null,
  };
  const submit = () => {
    setChecked(true);
    if (errors.from === null && errors.to === null) resending.mutate(range);
  };
  const field = (name: 'from' | 'to') => (
    <Field
      label={t(`resend.${name}`)}
      error={isChecked ? errors[name] : null}
      dir="ltr"
      inputMode="numeric"
      autoComplete="off"
      maxLength={15}
      value={range[name]}
      onChange={(value) => {
        resending.reset();
        setRange({ ...range, [name]: value });
      }}
    />
  );
  const hasStored = log && log.first_sequence !== null && log.last_sequence !== null;
  return (
    <FormDialog
      title={t('resend.title')}
      submit={t('resend.submit')}
      noValidate
      action={{ ...resending, mutate: submit }}
      isExplained={isProblem(resending.error, 'invalid_request')}
      onClose={onClose}
    >
      <p>{t('resend.about')}</p>
      {hasStored && (
        <p className="hint">{t('log.stored', { from: String(log.first_sequence), to: String(log.last_sequence) })}</p>
      )}
      <div className="row resend-range">
        {field('from')}
        {field('to')}
      </div>
      {resending.data === 0 && <p className="note note-warn">{t('resend.nothing')}</p>}
    </FormDialog>
  );
}
