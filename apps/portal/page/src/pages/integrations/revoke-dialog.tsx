import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Key, revokeKey } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Ago } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { LastUse } from './keys-table.tsx';

const HOUR_MS = 3_600_000;

/** Names exactly the key that would be revoked, and warns if it seems to be in use. */
export function RevokeDialog(props: { revoked: Key; keys: Key[]; onDone: () => void; onClose: () => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [openedAt] = useState(Date.now);
  const { key_id, name, last_four, created_at, last_used_at } = props.revoked;
  const revoking = useAction({
    mutationFn: async () => {
      await revokeKey(accountId, key_id);
      props.onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    revoking.mutate();
  };
  return (
    <Dialog title={t('keys.revokeTitle', { name, lastFour: last_four })} onClose={props.onClose}>
      <form className="stack" onSubmit={submit}>
        {warningsOf(props.revoked, props.keys, openedAt).map((warning) => (
          <p key={warning} className="note note-warn">
            {t(`keys.revokeWarning.${warning}`)}
          </p>
        ))}
        <dl className="facts">
          <dt>{t('keys.created')}</dt>
          <dd>
            <Ago at={created_at} />
          </dd>
          <dt>{t('keys.used')}</dt>
          <dd>
            <LastUse usedAt={last_used_at} />
          </dd>
        </dl>
        <p>{t('keys.revokeAbout')}</p>
        {revoking.error !== null && <ProblemNote error={revoking.error} />}
        <FormButtons
          submit={t('keys.revokeKey', { lastFour: last_four })}
          cancel={t('keys.keep')}
          isBusy={revoking.isPending}
          isDestructive
          onClose={props.onClose}
        />
      </form>
    </Dialog>
  );
}

/** Locale keys below `keys.revokeWarning`. */
function warningsOf(revoked: Key, keys: Key[], now: number): ('usedLately' | 'newest' | 'only')[] {
  const others = keys.filter(({ key_id, state }) => state === 'active' && key_id !== revoked.key_id);
  const sameName = others.filter(({ name }) => name === revoked.name);
  const isNewest = sameName.length > 0 && sameName.every(({ key_id }) => key_id < revoked.key_id);
  const wasUsed = revoked.last_used_at !== null && now - new Date(revoked.last_used_at).getTime() < HOUR_MS;
  return [
    ...(wasUsed ? (['usedLately'] as const) : []),
    ...(isNewest ? (['newest'] as const) : []),
    ...(others.length === 0 ? (['only'] as const) : []),
  ];
}
