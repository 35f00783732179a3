import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { encode } from 'uqr';
import { call } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Confirm, FormDialog } from '../../components/form-dialog.tsx';
import { ProblemNote } from '../../components/loaded.tsx';
import { SecretText } from '../../components/shown-once.tsx';
import { useAction } from '../../components/use-action.ts';
import { AppCodeField } from './code-field.tsx';
import { useProofText } from './passkey-button.tsx';

/** Sets up, replaces and removes the authenticator app. */
export function TotpCard(props: { hasApp: boolean; onChanged: (codes?: string[] | null) => void }): ReactNode {
  const { hasApp, onChanged } = props;
  const { t } = useTranslation('signIn');
  const [uri, setUri] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const start = useAction({
    mutationFn: async () => setUri((await call<{ uri: string }>('POST', '/second-factors/totp')).uri),
  });
  return (
    <Card title={t('totp.title')}>
      <p>{t(hasApp ? 'totp.isOn' : 'totp.about')}</p>
      {start.isError && <ProblemNote error={start.error} />}
      <div className="row">
        <Button disabled={start.isPending} onClick={() => start.mutate()}>
          {t(hasApp ? 'totp.replace' : 'totp.start')}
        </Button>
        {hasApp && <Button onClick={() => setRemoving(true)}>{t('totp.remove')}</Button>}
      </div>
      {uri !== null && <TotpDialog uri={uri} onVerified={onChanged} onClose={() => setUri(null)} />}
      {isRemoving && (
        <Confirm
          title={t('totp.remove')}
          text={t('totp.removeAsk')}
          action={async () => {
            await call('DELETE', '/second-factors/totp');
            onChanged();
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </Card>
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
      const path = '/second-factors/totp/verify';
      const { recovery_codes } = await call<{ recovery_codes: string[] | null }>('POST', path, { body: { code } });
      onClose();
      onVerified(recovery_codes);
    },
  });
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  return (
    <FormDialog title={t('totp.setUp')} submit={t('totp.verify')} action={verify} isExplained onClose={onClose}>
      <p>{t('totp.scan')}</p>
      <QrCode text={uri} label={t('totp.qrCode')} />
      <details>
        <summary>{t('totp.typeIt')}</summary>
        <SecretText text={secret.match(/.{1,4}/g)?.join(' ') ?? ''} />
      </details>
      <AppCodeField value={code} onChange={setCode} error={verify.error && textOf(verify.error)} />
    </FormDialog>
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
