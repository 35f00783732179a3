import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../components/dialog.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import './second-factors.css';

/** The only place where recovery codes are shown. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }): ReactNode {
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
