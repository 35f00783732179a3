import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type OwnSecondFactors, renewRecoveryCodes, SECOND_FACTORS_KEY, useSecondFactors } from '../../api/passkeys.ts';
import { Dialog } from '../../components/dialog.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { TotpCard } from './totp-card.tsx';
import './second-factors.css';
import { call } from '../../api/client.ts';
import { addPasskey, canUsePasskeys } from '../../api/passkeys.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Field } from '../../components/field.tsx';
import { fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { useProofText } from './passkey-button.tsx';

/**
 * The user's passkeys, authenticator app and recovery codes.
 *
 * @param props.onChanged called after a change, and once new recovery codes are no longer shown.
 */
export function SecondFactorCards({ onChanged }: { onChanged: () => void }): ReactNode {
  const queryClient = useQueryClient();
  const factors = useSecondFactors();
  const [codes, setCodes] = useState<string[] | null>(null);
  const changed = (newCodes: string[] | null = null) => {
    void queryClient.invalidateQueries({ queryKey: SECOND_FACTORS_KEY });
    setCodes(newCodes);
    if (newCodes === null) onChanged();
  };
  if (factors.isError) return <ProblemNote error={factors.error} retry={() => void factors.refetch()} />;
  if (!factors.data) return null;
  const { passkeys, totp, recovery_codes } = factors.data;
  return (
    <>
      <PasskeysCard passkeys={passkeys} onChanged={changed} />
      <TotpCard hasApp={totp} onChanged={changed} />
      {(totp || passkeys.length > 0) && <RecoveryCodesCard left={recovery_codes} onRenewed={changed} />}
      {codes && <RecoveryCodesDialog codes={codes} onClose={() => changed()} />}
    </>
  );
}

/** The only place where recovery codes are shown. */
function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  return (
    <Dialog title={t('recovery.title')} onClose={onClose}>
      <ShownOnce text={codes.join('\n')} copy={t('recovery.copy')} onClose={onClose}>
        <p className="note note-warn">{t('recovery.once')}</p>
        <ol className="plain recovery-codes" dir="ltr">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
      </ShownOnce>
    </Dialog>
  );
}

/** Shows how many recovery codes are left, and replaces them. */
function RecoveryCodesCard(props: { left: number; onRenewed: (codes: string[]) => void }): ReactNode {
  const { left, onRenewed } = props;
  const { t } = useTranslation('signIn');
  const [isAsking, setAsking] = useState(false);
  return (
    <section className="card stack">
      <h2>{t('recovery.title')}</h2>
      <p>{t('recovery.about')}</p>
      <p>{t('recovery.left', { count: left })}</p>
      <div>
        <button type="button" className="button" onClick={() => setAsking(true)}>
          {t('recovery.renew')}
        </button>
      </div>
      {isAsking && (
        <Confirm
          title={t('recovery.renew')}
          text={t('recovery.renewAsk')}
          label={t('recovery.renew')}
          action={async () => onRenewed(await renewRecoveryCodes())}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}

type Passkey = OwnSecondFactors['passkeys'][number];

/** Lists, adds and removes passkeys. */
function PasskeysCard(props: { passkeys: Passkey[]; onChanged: (codes?: string[] | null) => void }): ReactNode {
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
