import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ShownOnce } from '../../../components/shown-once.tsx';

/** The only place where the secret of an endpoint is shown. */
export function NewSecret({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const { t } = useTranslation('events');
  return (
    <ShownOnce text={secret} copy={t('secret.copy')} onClose={onClose}>
      <p className="note note-warn">{t('secret.once')}</p>
      <pre className="code secret" dir="ltr">
        {secret}
      </pre>
      <p className="hint">{t('secret.about')}</p>
    </ShownOnce>
  );
}
