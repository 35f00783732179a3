import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useResetAvailable } from '../../api/password-resets.ts';

/** Offers a link for a new password where the portal sends mails; otherwise says to ask an operator. */
export function ResetLink(): ReactNode {
  const { t } = useTranslation('signIn');
  const isAvailable = useResetAvailable();
  if (!isAvailable) return <p className="hint">{t('help')}</p>;
  return (
    <>
      <Link href="/forgot-password">{t('reset.forgot')}</Link>
      <p className="hint">{t('reset.noAccess')}</p>
    </>
  );
}
