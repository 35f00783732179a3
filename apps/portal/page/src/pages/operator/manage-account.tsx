import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import type { AccountRow } from '../../api/operator.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { useNotices } from '../../components/notices.tsx';
import { ProblemNote, useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';

type Change = { suspended: boolean } | { signing: boolean } | { rate_limit: string };

/** An account's state, signing and rate limit, which operators control. */
export function ManageAccount({ account, onClose }: { account: AccountRow; onClose: () => void }): ReactNode {
  const { t } = useTranslation('operator');
  const queryClient = useQueryClient();
  const notices = useNotices();
  const [confirming, setConfirming] = useState<'suspend' | 'disableSigning' | null>(null);
  const isSuspended = account.state === 'suspended';
  const apply = async (change: Change) => {
    await call('PATCH', `/operator/accounts/${account.account_id}`, { body: change });
    await queryClient.invalidateQueries({ queryKey: ['operator', 'accounts'] });
    notices.show({ text: t('accounts.changed') });
  };
  const change = useAction({ mutationFn: apply });
  return (
    <Dialog title={account.name} onClose={onClose}>
      <div className="stack">
        {change.isError && <ProblemNote error={change.error} />}
        <div className="spread">
          <p>{t(isSuspended ? 'accounts.isSuspended' : 'accounts.isActive')}</p>
          {isSuspended ? (
            <button type="button" className="button" onClick={() => change.mutate({ suspended: false })}>
              {t('accounts.resume')}
            </button>
          ) : (
            <button type="button" className="button button-bad" onClick={() => setConfirming('suspend')}>
              {t('accounts.suspend')}
            </button>
          )}
        </div>
        <div className="spread">
          <p>{t(account.signing_enabled ? 'accounts.isSigning' : 'accounts.isNotSigning')}</p>
          {account.signing_enabled ? (
            <button type="button" className="button button-bad" onClick={() => setConfirming('disableSigning')}>
              {t('accounts.disableSigning')}
            </button>
          ) : (
            <button type="button" className="button" onClick={() => change.mutate({ signing: true })}>
              {t('accounts.enableSigning')}
            </button>
          )}
        </div>
        <RateLimitForm account={account} apply={apply} />
      </div>
      {confirming === 'suspend' && (
        <Confirm
          title={t('accounts.suspend')}
          text={t('accounts.suspendAsk', { name: account.name })}
          label={t('accounts.suspend')}
          action={() => apply({ suspended: true })}
          onClose={() => setConfirming(null)}
        />
      )}
      {confirming === 'disableSigning' && (
        <Confirm
          title={t('accounts.disableSigning')}
          text={t('accounts.disableSigningAsk', { name: account.name })}
          label={t('accounts.disableSigning')}
          action={() => apply({ signing: false })}
          onClose={() => setConfirming(null)}
        />
      )}
    </Dialog>
  );
}

const KINDS = ['default', 'none', 'own'] as const;
type Kind = (typeof KINDS)[number];

function RateLimitForm({
  account,
  apply,
}: {
  account: AccountRow;
  apply: (change: Change) => Promise<void>;
}): ReactNode {
  const { t } = useTranslation('operator');
  const textOf = useProblemText();
  const { rate_limit } = account;
  const now: Kind = rate_limit === 'default' || rate_limit === 'none' ? rate_limit : 'own';
  const [kind, setKind] = useState<Kind>(now);
  const [own, setOwn] = useState(now === 'own' ? rate_limit : '100/1s');
  const set = useAction({ mutationFn: () => apply({ rate_limit: kind === 'own' ? own.trim() : kind }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate();
  };
  const errorText = (error: unknown) => (isProblem(error, 'invalid_request') ? t('limit.rule') : textOf(error));
  return (
    <form className="stack-tight" onSubmit={submit}>
      <fieldset className="operator-choices">
        <legend>{t('limit.legend')}</legend>
        {KINDS.map((value) => (
          <label key={value} className="row">
            <input type="radio" name="limit" checked={kind === value} onChange={() => setKind(value)} />
            {t(`limit.${value}`)}
          </label>
        ))}
      </fieldset>
      {kind === 'own' && (
        <Field
          label={t('limit.rate')}
          hint={t('limit.rule')}
          dir="ltr"
          required
          value={own}
          onChange={(event) => setOwn(event.target.value)}
          error={set.isError ? errorText(set.error) : null}
        />
      )}
      {set.isError && kind !== 'own' && <ProblemNote error={set.error} />}
      <div>
        <button type="submit" className="button" disabled={set.isPending}>
          {t('limit.set')}
        </button>
      </div>
    </form>
  );
}
