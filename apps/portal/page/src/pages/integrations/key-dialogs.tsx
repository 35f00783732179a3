import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createKey, type Grace, type Key, type NewKey, replaceKey, SCOPES, updateKey } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { useAction } from '../../components/use-action.ts';
import { GraceChoice } from './grace-choice.tsx';
import { addressesIn, areAddressesRefused, type KeyAccess, KeyAccessFields } from './key-access-fields.tsx';

interface DialogProps {
  onClose: () => void;
}

/** Asks for a name and what the key may do, and creates it. */
export function CreateKeyDialog({ onDone, onClose }: DialogProps & { onDone: (key: NewKey) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [name, setName] = useState('');
  const [access, setAccess] = useState<KeyAccess>({ scopes: [...SCOPES], expires: 'never', addresses: '' });
  const creating = useAction({
    mutationFn: async () =>
      onDone(
        await createKey(accountId, {
          name,
          scopes: access.scopes,
          expires: access.expires ?? 'never',
          addresses: addressesIn(access.addresses),
        }),
      ),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Dialog title={t('keys.create')} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field
          label={t('keys.name')}
          hint={t('keys.nameHint')}
          dir="auto"
          required
          maxLength={200}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <KeyAccessFields access={access} isNew error={creating.error} onChange={setAccess} />
        {creating.error !== null && !areAddressesRefused(creating.error) && <ProblemNote error={creating.error} />}
        <FormButtons
          submit={t('keys.create')}
          isBusy={creating.isPending || name.trim() === '' || access.scopes.length === 0}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** Changes what a key may do, for how long from now, and from where. */
export function LimitKeyDialog(props: DialogProps & { changed: Key; onDone: () => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const { key_id, name, last_four, scopes, addresses } = props.changed;
  const [access, setAccess] = useState<KeyAccess>({ scopes, expires: null, addresses: addresses.join('\n') });
  const updating = useAction({
    mutationFn: async () => {
      const limits = { scopes: access.scopes, addresses: addressesIn(access.addresses) };
      await updateKey(accountId, key_id, { ...limits, ...(access.expires && { expires: access.expires }) });
      props.onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    updating.mutate();
  };
  return (
    <Dialog title={t('keys.limitTitle', { name, lastFour: last_four })} onClose={props.onClose}>
      <form className="stack" onSubmit={submit}>
        <p>{t('keys.limitAbout')}</p>
        <KeyAccessFields access={access} isNew={false} error={updating.error} onChange={setAccess} />
        {updating.error !== null && !areAddressesRefused(updating.error) && <ProblemNote error={updating.error} />}
        <FormButtons
          submit={t('keys.saveLimits')}
          isBusy={updating.isPending || access.scopes.length === 0}
          onClose={props.onClose}
        />
      </form>
    </Dialog>
  );
}

/** The only place where a key is shown. */
export function NewKeyDialog({ newKey, onClose }: DialogProps & { newKey: NewKey }): ReactNode {
  const { t } = useTranslation('integrations');
  return (
    <Dialog title={t('keys.made', { name: newKey.name })} onClose={onClose}>
      <ShownOnce text={newKey.key} copy={t('keys.copy')} onClose={onClose}>
        <p className="note note-warn">{t('keys.once')}</p>
        <pre className="code secret" dir="ltr">
          {newKey.key}
        </pre>
      </ShownOnce>
    </Dialog>
  );
}

/** Asks how long the old key still works, and creates the new one. */
export function ReplaceKeyDialog(props: DialogProps & { old: Key; onDone: (key: NewKey) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [grace, setGrace] = useState<Grace>('24h');
  const replacing = useAction({
    mutationFn: async () => props.onDone(await replaceKey(accountId, props.old.key_id, grace)),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    replacing.mutate();
  };
  return (
    <Dialog
      title={t('keys.replaceTitle', { name: props.old.name, lastFour: props.old.last_four })}
      onClose={props.onClose}
    >
      <form className="stack" onSubmit={submit}>
        <p>{t('keys.replaceAbout')}</p>
        <GraceChoice label={t('keys.grace')} value={grace} onChange={setGrace} />
        {replacing.error !== null && <ProblemNote error={replacing.error} />}
        <FormButtons submit={t('keys.replace')} isBusy={replacing.isPending} onClose={props.onClose} />
      </form>
    </Dialog>
  );
}
