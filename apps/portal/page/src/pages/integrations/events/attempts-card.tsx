import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Attempt, type Endpoint, resendEvents, useAttempts } from '../../../api/events.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { useNotices } from '../../../components/notices.tsx';
import { formatCount, formatDuration } from '../../../components/numbers.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { exactTime } from '../../../components/time.tsx';
import { AttemptError, TypeName } from './endpoint-state.tsx';
import '../../../components/data-table.css';
import { useAction } from '../../../components/use-action.ts';

/** The recent attempts to deliver to an endpoint. */
export function AttemptsCard({ endpoint: { endpoint_id } }: { endpoint: Endpoint }): ReactNode {
  const { t } = useTranslation('events');
  const query = useAttempts(useAccountId(), endpoint_id);
  const attempts = query.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <section className="card stack" aria-labelledby="attempts-title">
      <h2 id="attempts-title">{t('attempts.title')}</h2>
      <p className="hint">{t('attempts.about')}</p>
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton shape="rows" count={4} />}
      {query.isSuccess && attempts.length === 0 && <p className="note">{t('attempts.none')}</p>}
      {attempts.length > 0 && (
        <div className="table-scope">
          <AttemptsTable attempts={attempts} endpointId={endpoint_id} />
        </div>
      )}
      {query.hasNextPage && (
        <button
          type="button"
          className="button more-button"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('common:action.more')}
        </button>
      )}
    </section>
  );
}

function AttemptsTable({ attempts, endpointId }: { attempts: Attempt[]; endpointId: string }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <table className="data-table key-table" aria-labelledby="attempts-title">
      <thead>
        <tr>
          <th scope="col">{t('attempts.event')}</th>
          <th scope="col">{t('attempts.at')}</th>
          <th scope="col">{t('attempts.number')}</th>
          <th scope="col">{t('attempts.outcome')}</th>
          <th scope="col">{t('attempts.duration')}</th>
          <th scope="col">
            <span className="visually-hidden">{t('attempts.actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {attempts.map((attempt) => (
          <AttemptRow key={attempt.attempt_number} attempt={attempt} endpointId={endpointId} />
        ))}
      </tbody>
    </table>
  );
}

function AttemptRow({ attempt, endpointId }: { attempt: Attempt; endpointId: string }): ReactNode {
  const { t } = useTranslation('events');
  const can = useCan();
  const { at, type, sequence, error, status, duration_ms } = attempt;
  return (
    <tr>
      <th scope="row">
        <TypeName type={type} />
        {sequence !== null && <p className="hint">{t('attempts.sequence', { id: sequence })}</p>}
      </th>
      <td data-label={t('attempts.at')}>
        <time dateTime={at}>{exactTime(at)}</time>
      </td>
      <td data-label={t('attempts.number')}>{formatCount(attempt.attempt)}</td>
      <td data-label={t('attempts.outcome')}>
        <span className={`badge ${error === null ? 'badge-good' : 'badge-bad'}`}>
          {error === null ? t('attempts.delivered') : t('attempts.failed')} {status ?? ''}
        </span>
        {error !== null && (
          <p className="hint">
            <AttemptError attempt={attempt} />
          </p>
        )}
      </td>
      <td data-label={t('attempts.duration')}>{formatDuration(duration_ms)}</td>
      <td className="cell-actions">
        {can('develop') && sequence !== null && <ResendButton endpointId={endpointId} sequence={sequence} />}
      </td>
    </tr>
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
    <button
      type="button"
      className="button"
      aria-label={t('attempts.resendOne', { id: sequence })}
      disabled={resending.isPending}
      onClick={() => resending.mutate()}
    >
      {t('attempts.resend')}
    </button>
  );
}
