import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { InvitationLink } from '../../api/operator.ts';
import { ShownOnce } from '../../components/shown-once.tsx';
import { fullTime } from '../../components/time.tsx';

/** Shows a one-time link, which cannot be shown again. @param props.about what its user does with it. */
export function LinkDialog(props: { link: InvitationLink; about: string; onClose: () => void }): ReactNode {
  const { email, link, expires_at } = props.link;
  const { t } = useTranslation('users');
  return (
    <ShownOnce title={t('link.title', { email })} text={link} copy={t('link.copy')} onClose={props.onClose}>
      <p>{props.about}</p>
      <p className="one-time-link">
        <code dir="ltr">{link}</code>
      </p>
      <p className="hint">{t('link.once', { time: fullTime(expires_at) })}</p>
    </ShownOnce>
  );
}
