import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { startTotp } from '../../api/second-factors.ts';
import { Confirm } from '../../components/confirm.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { TotpDialog } from './totp-dialog.tsx';

/** Sets up, replaces and removes the authenticator app. */
export function TotpCard(props: { hasApp: boolean; onChanged: (codes?: string[] | null) => void }): ReactNode {
  const { hasApp, onChanged } = props;
  const { t } = useTranslation('signIn');
  const [uri, setUri] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const start = useAction({ mutationFn: async () => setUri(await startTotp()) });
  return (
    <section className="card stack">
      <h2>{t('totp.title')}</h2>
      <p>{t(hasApp ? 'totp.isOn' : 'totp.about')}</p>
      {start.isError && <ProblemNote error={start.error} />}
      <div className="row">
        <button type="button" className="button" disabled={start.isPending} onClick={() => start.mutate()}>
          {t(hasApp ? 'totp.replace' : 'totp.start')}
        </button>
        {hasApp && (
          <button type="button" className="button" onClick={() => setRemoving(true)}>
            {t('totp.remove')}
          </button>
        )}
      </div>
      {uri !== null && <TotpDialog uri={uri} onVerified={onChanged} onClose={() => setUri(null)} />}
      {isRemoving && (
        <Confirm
          title={t('totp.remove')}
          text={t('totp.removeAsk')}
          label={t('totp.remove')}
          action={async () => {
            await call('DELETE', '/second-factors/totp');
            onChanged();
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </section>
  );
}
