import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Attempt, type Endpoint, endpointAt, resendEvents } from '../../../api/events.ts';
import { usePagedList } from '../../../api/queries.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { Paged } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { formatCount, formatDuration } from '../../../components/numbers.ts';
import { exactTime } from '../../../components/time.tsx';
import { useAction } from '../../../components/use-action.ts';
import { AttemptError, TypeName } from './endpoint-state.tsx';

/** The recent attempts to deliver to an endpoint, newest first. */
export function AttemptsCard({ endpoint: { endpoint_id } }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const can = useCan();
  const accountId = useAccountId();
  const list = usePagedList({
    queryKey: ['attempts', accountId, endpoint_id],
    path: `${endpointAt(accountId, endpoint_id)}/attempts`,
    query: (before) => ({ before }),
    rowsOf: ({ attempts }: { attempts: Attempt[]; next: number | null }) => attempts,
    refetchInterval: 2000,
  });
  return (
    <Card title={t('attempts.title')} about={t('attempts.about')} className="stack table-scope">
      <Paged list={list} skeleton={4} empty={<p className="note">{t('attempts.none')}</p>}>
        {(attempts) => (
          <DataTable
            label={t('attempts.title')}
            rows={attempts}
            keyOf={({ attempt_number }) => attempt_number}
            columns={[
              { header: t('attempts.event'), cell: (attempt) => <EventName attempt={attempt} /> },
              { header: t('attempts.at'), cell: ({ at }) => <time dateTime={at}>{exactTime(at)}</time> },
              { header: t('attempts.number'), cell: ({ attempt }) => formatCount(attempt) },
              { header: t('attempts.outcome'), cell: (attempt) => <Outcome attempt={attempt} /> },
              { header: t('attempts.duration'), cell: ({ duration_ms }) => formatDuration(duration_ms) },
            ]}
            actions={{
              header: t('attempts.actions'),
              of: ({ sequence }) =>
                can('develop') && sequence !== null && <ResendButton endpointId={endpoint_id} sequence={sequence} />,
            }}
          />
        )}
      </Paged>
    </Card>
  );
}

function EventName({ attempt: { type, sequence } }: { attempt: Attempt }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <>
      <TypeName type={type} />
      {sequence !== null && <p className="hint">{t('attempts.sequence', { id: sequence })}</p>}
    </>
  );
}

function Outcome({ attempt }: { attempt: Attempt }): ReactNode {
  const { t } = useTranslation('events');
  const isDelivered = attempt.error === null;
  return (
    <>
      <span className={isDelivered ? 'badge badge-good' : 'badge badge-bad'}>
        {t(isDelivered ? 'attempts.delivered' : 'attempts.failed')} {attempt.status ?? ''}
      </span>
      {!isDelivered && (
        <p className="hint">
          <AttemptError attempt={attempt} />
        </p>
      )}
    </>
  );
}

function ResendButton({ endpointId, sequence }: { endpointId: string; sequence: number }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const notices = useNotices();
  const resending = useAction({
    mutationFn: () => resendEvents(accountId, endpointId, sequence, sequence),
    onSuccess: (count) => {
      notices.show(
        count > 0 ? { text: t('resend.requested', { count }) } : { text: t('resend.notStored'), kind: 'bad' },
      );
      void queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
    },
    onError: () => notices.show({ text: t('resend.failed'), kind: 'bad' }),
  });
  return (
    <Button
      aria-label={t('attempts.resendOne', { id: sequence })}
      disabled={resending.isPending}
      onClick={() => resending.mutate()}
    >
      {t('attempts.resend')}
    </Button>
  );
}
