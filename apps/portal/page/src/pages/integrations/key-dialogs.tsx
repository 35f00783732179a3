import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createKey, type Key, type Lasting, type NewKey, replaceKey, revokeKey } from '../../api/integrations.ts';
import { useAccountId } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { LastingChoice } from './lasting-choice.tsx';
import { useDoing } from './use-doing.ts';

interface Closing {
  onClose: () => void;
}

/** Asks what a key is for, and makes it. */
export function CreateKeyDialog({ onDone, onClose }: Closing & { onDone: (key: NewKey) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [name, setName] = useState('');
  const creating = useDoing();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.run(async () => onDone(await createKey(accountId, name)));
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
        {creating.error !== null && <ProblemNote error={creating.error} />}
        <Buttons submit={t('keys.create')} isBusy={creating.isBusy || name.trim() === ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** The only place where a key is shown. */
export function NewKeyDialog({ made, onClose }: Closing & { made: NewKey }): ReactNode {
  const { t } = useTranslation('integrations');
  return (
    <Dialog title={t('keys.made', { name: made.name })} onClose={onClose}>
      <div className="stack">
        <p className="note note-warn">{t('keys.once')}</p>
        <pre className="code secret" dir="ltr">
          {made.key}
        </pre>
        <div className="row">
          <CopyButton text={made.key} label={t('keys.copy')} />
          <button type="button" className="button" onClick={onClose}>
            {t('keys.kept')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Asks how long the old key still works, and makes the new one. */
export function ReplaceKeyDialog(props: Closing & { old: Key; onDone: (key: NewKey) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const [grace, setGrace] = useState<Lasting>('24h');
  const replacing = useDoing();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    replacing.run(async () => props.onDone(await replaceKey(accountId, props.old.key_id, grace)));
  };
  return (
    <Dialog title={t('keys.replaceTitle', { name: props.old.name })} onClose={props.onClose}>
      <form className="stack" onSubmit={submit}>
        <p>{t('keys.replaceAbout')}</p>
        <LastingChoice label={t('keys.grace')} value={grace} onChange={setGrace} />
        {replacing.error !== null && <ProblemNote error={replacing.error} />}
        <Buttons submit={t('keys.replace')} isBusy={replacing.isBusy} onClose={props.onClose} />
      </form>
    </Dialog>
  );
}

/** Asks once more before a key ends for good. */
export function RevokeKeyDialog(props: Closing & { old: Key; onDone: () => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const accountId = useAccountId();
  const revoking = useDoing();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    revoking.run(async () => {
      await revokeKey(accountId, props.old.key_id);
      props.onDone();
      props.onClose();
    });
  };
  return (
    <Dialog title={t('keys.revokeTitle', { name: props.old.name })} onClose={props.onClose}>
      <form className="stack" onSubmit={submit}>
        <p>{t('keys.revokeAbout')}</p>
        {revoking.error !== null && <ProblemNote error={revoking.error} />}
        <Buttons submit={t('keys.revoke')} isBusy={revoking.isBusy} isBad onClose={props.onClose} />
      </form>
    </Dialog>
  );
}

/** What a form does, and the way out of it. */
export function Buttons(props: Closing & { submit: string; isBusy: boolean; isBad?: boolean }): ReactNode {
  const { t } = useTranslation();
  return (
    <div className="row">
      <button type="submit" className={`button ${props.isBad ? 'button-bad' : 'button-main'}`} disabled={props.isBusy}>
        {props.submit}
      </button>
      <button type="button" className="button" onClick={props.onClose}>
        {t('action.cancel')}
      </button>
    </div>
  );
}
