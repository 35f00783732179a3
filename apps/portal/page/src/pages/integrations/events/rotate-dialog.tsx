import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Endpoint, rotateEndpoint } from '../../../api/events.ts';
import type { Grace } from '../../../api/integrations.ts';
import { useAccountId } from '../../../api/session.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { FormButtons } from '../../../components/form-buttons.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { useAction } from '../../../components/use-action.ts';
import { GraceChoice } from '../grace-choice.tsx';
import { NewSecret } from './new-secret.tsx';

/** Replaces the secret of an endpoint and shows the new one once. */
export function RotateDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): ReactNode {
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
