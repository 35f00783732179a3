import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../components/copy-button.tsx';

/** The only place where the secret of an endpoint is shown. */
export function NewSecret({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <div className="stack">
      <p className="note note-warn">{t('secret.once')}</p>
      <pre className="code secret" dir="ltr">
        {secret}
      </pre>
      <p className="hint">{t('secret.about')}</p>
      <div className="row">
        <CopyButton text={secret} label={t('secret.copy')} isFirst />
        <button type="button" className="button" onClick={onClose}>
          {t('secret.kept')}
        </button>
      </div>
    </div>
  );
}
