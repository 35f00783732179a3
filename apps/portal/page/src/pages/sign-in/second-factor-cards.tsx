import type { SecondFactors } from '@orders/database/users/second-factors.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, type Json } from '../../api/client.ts';
import { addPasskey, canUsePasskeys } from '../../api/passkeys.ts';
import { useGet } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { NameField } from '../../components/field.tsx';
import { Confirm, Form } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { useProofText } from './passkey-button.tsx';
import { TotpCard } from './totp-card.tsx';

/**
 * The user's passkeys, authenticator app and recovery codes.
 *
 * @param props.onChanged called after a change, and once new recovery codes are no longer shown.
 */
export function SecondFactorCards({ onChanged }: { onChanged: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  const [codes, setCodes] = useState<string[] | null>(null);
  const changed = (newCodes: string[] | null = null) => {
    void queryClient.invalidateQueries({ queryKey: ['second-factors'] });
    setCodes(newCodes);
    if (newCodes === null) onChanged();
  };
  return (
    <>
      <Loaded query={useGet<Json<SecondFactors>>(['second-factors'], '/second-factors')}>
        {({ passkeys, totp, recovery_codes }) => (
          <>
            <PasskeysCard passkeys={passkeys} onChanged={changed} />
            <TotpCard hasApp={totp} onChanged={changed} />
            {(totp || passkeys.length > 0) && <RecoveryCodesCard left={recovery_codes} onRenewed={changed} />}
          </>
        )}
      </Loaded>
      {/* The only place where recovery codes are shown. */}
      {codes && (
        <ShownOnce
          title={t('recovery.title')}
          note={t('recovery.once')}
          text={codes.join('\n')}
          copy={t('recovery.copy')}
          onClose={() => changed()}
        >
          <ol className="plain recovery-codes" dir="ltr">
            {codes.map((code) => (
              <li key={code}>{code}</li>
            ))}
          </ol>
        </ShownOnce>
      )}
    </>
  );
}

/** Shows how many recovery codes are left, and replaces them. */
function RecoveryCodesCard(props: { left: number; onRenewed: (codes: string[]) => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const [isAsking, setAsking] = useState(false);
  return (
    <Card title={t('recovery.title')}>
      <p>{t('recovery.about')}</p>
      <p>{t('recovery.left', { count: props.left })}</p>
      <div>
        <Button onClick={() => setAsking(true)}>{t('recovery.renew')}</Button>
      </div>
      {isAsking && (
        <Confirm
          title={t('recovery.renew')}
          text={t('recovery.renewAsk')}
          action={async () => {
            const path = '/second-factors/recovery-codes';
            props.onRenewed((await call<{ recovery_codes: string[] }>('POST', path)).recovery_codes);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  );
}

type Passkey = Json<SecondFactors>['passkeys'][number];

/** Lists, adds and removes passkeys. */
function PasskeysCard(props: { passkeys: Passkey[]; onChanged: (codes?: string[] | null) => void }): ReactNode {
  const { passkeys, onChanged } = props;
  const { t } = useTranslation('signIn');
  const [removing, setRemoving] = useState<Passkey | null>(null);
  return (
    <Card title={t('passkeys.title')}>
      <p>{t('passkeys.about')}</p>
      {passkeys.length > 0 && (
        <ul className="plain stack">
          {passkeys.map((passkey) => (
            <li key={passkey.passkey_id} className="spread">
              <NameSince name={<bdi>{passkey.name}</bdi>} since={passkey.created_at} />
              <Button
                aria-label={t('passkeys.removeNamed', { name: passkey.name })}
                onClick={() => setRemoving(passkey)}
              >
                {t('passkeys.remove')}
              </Button>
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
    </Card>
  );
}

/** What a session or a passkey is called, and since when there is one. */
export function NameSince({ name, since }: { name: ReactNode; since: string }): ReactNode {
  const { t } = useTranslation('signIn');
  return (
    <span>
      {name}
      <br />
      <span className="hint">{t('profile.since', { time: fullTime(since) })}</span>
    </span>
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
  return (
    <Form action={add}>
      <NameField
        label={t('passkeys.name')}
        hint={t('passkeys.nameHint')}
        maxLength={100}
        value={name}
        onChange={setName}
        error={add.error && textOf(add.error)}
      />
      <div>
        <Button type="submit" disabled={add.isPending || name.trim() === ''}>
          {t('passkeys.add')}
        </Button>
      </div>
    </Form>
  );
}
