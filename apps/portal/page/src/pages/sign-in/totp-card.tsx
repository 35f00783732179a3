import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { encode } from 'uqr';
import { call } from '../../api/client.ts';
import { startTotp, verifyTotp } from '../../api/passkeys.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { AppCodeField } from './code-field.tsx';
import { useProofText } from './passkey-button.tsx';
import './second-factors.css';

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

/** Shows the secret for an authenticator app, and asks for its first code. */
function TotpDialog(props: {
  uri: string;
  onVerified: (codes: string[] | null) => void;
  onClose: () => void;
}): ReactNode {
  const { uri, onVerified, onClose } = props;
  const { t } = useTranslation('signIn');
  const textOf = useProofText();
  const [code, setCode] = useState('');
  const verify = useAction({
    mutationFn: async () => {
      const codes = await verifyTotp(code);
      onClose();
      onVerified(codes);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    verify.mutate();
  };
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  return (
    <Dialog title={t('totp.setUp')} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p>{t('totp.scan')}</p>
        <QrCode text={uri} label={t('totp.qrCode')} />
        <details>
          <summary>{t('totp.typeIt')}</summary>
          <pre className="code secret" dir="ltr">
            {secret.match(/.{1,4}/g)?.join(' ')}
          </pre>
        </details>
        <AppCodeField value={code} onChange={setCode} error={verify.isError ? textOf(verify.error) : null} />
        <FormButtons submit={t('totp.verify')} isBusy={verify.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** A QR code, black on white in both themes. */
function QrCode({ text, label }: { text: string; label: string }): ReactNode {
  const { data, size } = encode(text, { border: 4 });
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg className="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
