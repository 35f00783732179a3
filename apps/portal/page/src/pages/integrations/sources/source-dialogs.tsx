import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Grace } from '../../../api/integrations.ts';
import { useAccountId } from '../../../api/session.ts';
import { removeSource, replaceSecret, replaceUrl, type Source } from '../../../api/sources.ts';
import { Confirm } from '../../../components/confirm.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { FormButtons } from '../../../components/form-buttons.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { ShownOnce } from '../../../components/shown-once.tsx';
import { useAction } from '../../../components/use-action.ts';
import { GraceChoice } from '../grace-choice.tsx';
import { SecretField } from './secret-field.tsx';

export type SourceAction = 'secret' | 'url' | 'remove';

/** The receipts whose deliveries could not be mapped. */
export function deadHref(accountId: number): string {
  return `/accounts/${accountId}/receipts?state=dead&error_code=mapping_failed`;
}

interface DialogProps {
  source: Source;
  onClose: () => void;
}

/** The dialog of an action on a source. */
export function SourceDialog({ action, source, onClose }: DialogProps & { action: SourceAction }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  if (action === 'secret') return <SecretDialog source={source} onClose={onClose} />;
  const act = action === 'url' ? replaceUrl : removeSource;
  return (
    <Confirm
      title={t(`${action}.title`, { name: source.name })}
      text={t(`${action}.about`)}
      label={t(`${action}.submit`)}
      action={async () => {
        await act(accountId, source.source_number);
        await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      }}
      onClose={onClose}
    />
  );
}

/** Stores the platform's new secret, or creates one and shows it once. */
function SecretDialog({ source, onClose }: DialogProps): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState('');
  const [overlap, setOverlap] = useState<Grace>('24h');
  const [created, setCreated] = useState<string | null>(null);
  const replacing = useAction({
    mutationFn: async () => {
      const body = { overlap, ...(secret.trim() !== '' && { secret: secret.trim() }) };
      const replaced = await replaceSecret(accountId, source.source_number, body);
      void queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      if (replaced.secret === undefined) onClose();
      else setCreated(replaced.secret);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    replacing.mutate();
  };
  return (
    <Dialog title={t('secret.title', { name: source.name })} onClose={onClose}>
      {created === null ? (
        <form className="stack" onSubmit={submit}>
          <SecretField value={secret} onChange={setSecret} hint={t('secret.createHint')} />
          <GraceChoice label={t('secret.overlap')} value={overlap} onChange={setOverlap} />
          {replacing.error !== null && <ProblemNote error={replacing.error} />}
          <FormButtons submit={t('secret.submit')} isBusy={replacing.isPending} onClose={onClose} />
        </form>
      ) : (
        <ShownOnce text={created} copy={t('secret.copy')} onClose={onClose}>
          <p className="note note-warn">{t('secret.once')}</p>
          <pre className="code secret" dir="ltr">
            {created}
          </pre>
        </ShownOnce>
      )}
    </Dialog>
  );
}
