import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import './second-factors.css';

/** The only place where recovery codes are shown. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  return (
    <Dialog title={t('recovery.title')} onClose={onClose}>
      <div className="stack">
        <p className="note note-warn">{t('recovery.once')}</p>
        <ol className="plain recovery-codes" dir="ltr">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <div className="row">
          <CopyButton text={codes.join('\n')} label={t('recovery.copy')} isFirst />
          <button type="button" className="button" onClick={onClose}>
            {t('recovery.kept')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
