import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { addPasskey, canUsePasskeys } from '../../api/passkeys.ts';
import type { OwnSecondFactors } from '../../api/second-factors.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Field } from '../../components/field.tsx';
import { fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { useProofText } from './use-proof-text.ts';

type Passkey = OwnSecondFactors['passkeys'][number];

/** Lists, adds and removes passkeys. */
export function PasskeysCard(props: { passkeys: Passkey[]; onChanged: (codes?: string[] | null) => void }): ReactNode {
  const { passkeys, onChanged } = props;
  const { t } = useTranslation('signIn');
  const [removing, setRemoving] = useState<Passkey | null>(null);
  return (
    <section className="card stack">
      <h2>{t('passkeys.title')}</h2>
      <p>{t('passkeys.about')}</p>
      {passkeys.length > 0 && (
        <ul className="plain stack">
          {passkeys.map((passkey) => (
            <li key={passkey.passkey_id} className="spread">
              <span>
                <bdi>{passkey.name}</bdi>
                <br />
                <span className="hint">{t('profile.since', { time: fullTime(passkey.created_at) })}</span>
              </span>
              <button
                type="button"
                className="button"
                aria-label={t('passkeys.removeNamed', { name: passkey.name })}
                onClick={() => setRemoving(passkey)}
              >
                {t('passkeys.remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      {canUsePasskeys() ? <AddPasskey onAdded={onChanged} /> : <p className="hint">{t('passkeys.impossible')}</p>}
      {removing && (
        <Confirm
          title={t('passkeys.removeTitle')}
          text={t('passkeys.removeAsk', { name: removing.name })}
          label={t('passkeys.remove')}
          action={async () => {
            await call('DELETE', `/second-factors/passkeys/${removing.passkey_id}`);
            onChanged();
          }}
          onClose={() => setRemoving(null)}
        />
      )}
    </section>
  );
}

function AddPasskey({ onAdded }: { onAdded: (codes: string[] | null) => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProofText();
  const [name, setName] = useState('');
  const add = useAction({
    // Recovery codes must not stay in the cache of mutations.
    mutationFn: async () => onAdded(await addPasskey(name)),
    onSuccess: () => setName(''),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <Field
        label={t('passkeys.name')}
        hint={t('passkeys.nameHint')}
        dir="auto"
        required
        maxLength={100}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={add.isError ? textOf(add.error) : null}
      />
      <div>
        <button type="submit" className="button" disabled={add.isPending || name.trim() === ''}>
          {t('passkeys.add')}
        </button>
      </div>
    </form>
  );
}
