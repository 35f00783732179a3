import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { InvitationLink } from '../../api/operator.ts';
import { Dialog } from '../../components/dialog.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { fullTime } from '../../components/time.tsx';
import './members.css';

/** Shows a one-time link, which cannot be shown again. */
export function LinkDialog({
  link,
  about,
  onClose,
}: {
  link: InvitationLink;
  /** What its user does with it. */
  about: string;
  onClose: () => void;
}): ReactNode {
  const { t } = useTranslation('users');
  return (
    <Dialog title={t('link.title', { email: link.email })} onClose={onClose}>
      <ShownOnce text={link.link} copy={t('link.copy')} onClose={onClose}>
        <p>{about}</p>
        <p className="one-time-link">
          <code dir="ltr">{link.link}</code>
        </p>
        <p className="hint">{t('link.once', { time: fullTime(link.expires_at) })}</p>
      </ShownOnce>
    </Dialog>
  );
}
