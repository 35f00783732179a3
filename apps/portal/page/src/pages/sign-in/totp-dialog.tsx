import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { verifyTotp } from '../../api/second-factors.ts';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { useAction } from '../../components/use-action.ts';
import { AppCodeField } from './code-field.tsx';
import { QrCode } from './qr-code.tsx';
import { useProofText } from './use-proof-text.ts';

/** Shows the secret for an authenticator app, and asks for its first code. */
export function TotpDialog(props: {
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
