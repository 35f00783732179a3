import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useTestAttempt } from '../../../api/events.ts';
import { useAccountId } from '../../../api/session.ts';
import { formatDuration } from '../../../components/numbers.ts';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { AttemptError } from './attempt-error.tsx';

/** The outcome of a test event; waits for it. */
export function TestOutcome({ endpointId, eventId }: { endpointId: string; eventId: string }): ReactNode {
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
