import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import type { AccountRow } from '../../api/operator.ts';
import { Button } from '../../components/button.tsx';
import { Field, RadioChoice } from '../../components/field.tsx';
import { Confirm, Dialog, Form } from '../../components/form-dialog.tsx';
import { ProblemNote, useProblemText } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useAction } from '../../components/use-action.ts';

type Change = { suspended: boolean } | { signing: boolean } | { rate_limit: string };

/** An account's state, signing and rate limit, which operators control. */
export function ManageAccount({ account, onClose }: { account: AccountRow; onClose: () => void }): ReactNode {
  const { t } = useTranslation('operator');
  const queryClient = useQueryClient();
  const notices = useNotices();
  const [confirming, setConfirming] = useState<'suspend' | 'disableSigning' | null>(null);
  const { name, state, signing_enabled, moved_to } = account;
  const isSuspended = state === 'suspended';
  const apply = async (change: Change) => {
    await call('PATCH', `/operator/accounts/${account.account_id}`, { body: change });
    await queryClient.invalidateQueries({ queryKey: ['operator', 'accounts'] });
    notices.show({ text: t('accounts.changed') });
  };
  const change = useAction({ mutationFn: apply });
  const destructive = (what: NonNullable<typeof confirming>) => (
    <Button kind="bad" onClick={() => setConfirming(what)}>
      {t(`accounts.${what}`)}
    </Button>
  );
  if (moved_to !== null)
    return (
      <Dialog title={name} onClose={onClose}>
        <p>{t('accounts.isMoved', { url: moved_to })}</p>
      </Dialog>
    );
  return (
    <Dialog title={name} onClose={onClose}>
      <div className="stack">
        {change.isError && <ProblemNote error={change.error} />}
        <div className="spread">
          <p>{t(isSuspended ? 'accounts.isSuspended' : 'accounts.isActive')}</p>
          {isSuspended ? (
            <Button onClick={() => change.mutate({ suspended: false })}>{t('accounts.resume')}</Button>
          ) : (
            destructive('suspend')
          )}
        </div>
        <div className="spread">
          <p>{t(signing_enabled ? 'accounts.isSigning' : 'accounts.isNotSigning')}</p>
          {signing_enabled ? (
            destructive('disableSigning')
          ) : (
            <Button onClick={() => change.mutate({ signing: true })}>{t('accounts.enableSigning')}</Button>
          )}
        </div>
        <RateLimitForm account={account} apply={apply} />
      </div>
      {confirming && (
        <Confirm
          title={t(`accounts.${confirming}`)}
          text={t(`accounts.${confirming}Ask`, { name })}
          action={() => apply(confirming === 'suspend' ? { suspended: true } : { signing: false })}
          onClose={() => setConfirming(null)}
        />
      )}
    </Dialog>
  );
}

const KINDS = ['default', 'none', 'own'] as const;
type Kind = (typeof KINDS)[number];

function RateLimitForm(props: { account: AccountRow; apply: (change: Change) => Promise<void> }): ReactNode {
  const { t } = useTranslation('operator');
  const textOf = useProblemText();
  const { rate_limit } = props.account;
  const now: Kind = rate_limit === 'default' || rate_limit === 'none' ? rate_limit : 'own';
  const [kind, setKind] = useState<Kind>(now);
  const [own, setOwn] = useState(now === 'own' ? rate_limit : '100/1s');
  const set = useAction({ mutationFn: () => props.apply({ rate_limit: kind === 'own' ? own.trim() : kind }) });
  const { error } = set;
  return (
    <Form className="stack-tight" action={set}>
      <RadioChoice
        label={t('limit.legend')}
        options={KINDS.map((value) => ({ value, name: t(`limit.${value}`) }))}
        value={kind}
        onChange={setKind}
      />
      {kind === 'own' && (
        <Field
          label={t('limit.rate')}
          hint={t('limit.rule')}
          dir="ltr"
          required
          value={own}
          onChange={setOwn}
          error={error && (isProblem(error, 'invalid_request') ? t('limit.rule') : textOf(error))}
        />
      )}
      {error && kind !== 'own' && <ProblemNote error={error} />}
      <div>
        <Button type="submit" disabled={set.isPending}>
          {t('limit.set')}
        </Button>
      </div>
    </Form>
  );
}
