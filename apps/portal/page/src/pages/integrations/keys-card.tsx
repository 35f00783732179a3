import { useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Key, type NewKey, revokeKey, useKeys } from '../../api/integrations.ts';
import { useAccountId, useCan } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Ago, fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { CreateKeyDialog, LimitKeyDialog, NewKeyDialog, ReplaceKeyDialog } from './key-dialogs.tsx';
import { KeysTable, LastUse } from './keys-table.tsx';

const HOUR_MS = 3_600_000;

/** Names exactly the key that would be revoked, and warns if it seems to be in use. */
function RevokeDialog(props: { revoked: Key; keys: Key[]; onDone: () => void; onClose: () => void }): ReactNode {
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

type Open = { what: 'create' | 'shown' } | { what: 'limit' | 'replace' | 'revoke'; key: Key } | null;

/** The account's keys. A new key is shown once. */
export function KeysCard(props: { newKey: NewKey | null; onNewKey: (key: NewKey | null) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const keys = useKeys(accountId);
  const mayChange = useCan()('develop');
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const refresh = () => void queryClient.invalidateQueries({ queryKey: ['keys', accountId] });
  const show = (key: NewKey) => {
    props.onNewKey(key);
    setOpen({ what: 'shown' });
    refresh();
  };
  const changed = () => {
    close();
    refresh();
  };
  const create = mayChange && (
    <button type="button" className="button button-main" onClick={() => setOpen({ what: 'create' })}>
      <KeyRound aria-hidden="true" size={16} />
      {t('keys.create')}
    </button>
  );
  const hasNone = keys.data?.length === 0;
  return (
    <section className="card stack table-scope" aria-labelledby="keys-title">
      <header className="spread">
        <h2 id="keys-title">{t('keys.title')}</h2>
        {!hasNone && create}
      </header>
      <p className="hint">{t('keys.about')}</p>
      {keys.isError && <ProblemNote error={keys.error} retry={() => void keys.refetch()} />}
      {keys.isPending && <Skeleton shape="rows" count={2} />}
      {hasNone && (
        <EmptyState title={t('keys.none')} text={mayChange ? t('keys.noneAbout') : undefined} action={create} />
      )}
      {keys.data?.map(
        ({ key_id, name, last_four, expires_at, expires_soon }) =>
          expires_soon &&
          expires_at && (
            <p key={key_id} className="note note-warn">
              {t('keys.expiresSoon', { name, lastFour: last_four, time: fullTime(expires_at) })}
            </p>
          ),
      )}
      {keys.data && !hasNone && (
        <KeysTable
          keys={keys.data}
          onLimit={(key) => setOpen({ what: 'limit', key })}
          onReplace={(key) => setOpen({ what: 'replace', key })}
          onRevoke={(key) => setOpen({ what: 'revoke', key })}
        />
      )}
      {open?.what === 'create' && <CreateKeyDialog onDone={show} onClose={close} />}
      {open?.what === 'limit' && <LimitKeyDialog changed={open.key} onDone={changed} onClose={close} />}
      {open?.what === 'replace' && <ReplaceKeyDialog old={open.key} onDone={show} onClose={close} />}
      {open?.what === 'revoke' && (
        <RevokeDialog revoked={open.key} keys={keys.data ?? []} onDone={changed} onClose={close} />
      )}
      {open?.what === 'shown' && props.newKey && <NewKeyDialog newKey={props.newKey} onClose={close} />}
    </section>
  );
}
