import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useGet } from '../../api/queries.ts';
import { SESSION_QUERY } from '../../api/session.ts';
import { HelpLink } from '../../components/page-header.tsx';
import { AlonePage } from './alone-page.tsx';
import { IdentityProviderButton, IdentityProviderRejection } from './identity-provider.tsx';
import { SignInForm } from './sign-in-form.tsx';

export function SignInPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  return (
    <AlonePage title={t('title')}>
      <p className="brand">
        <img src="/icon.svg" alt="" width="32" height="32" />
        {t('common:title')}
      </p>
      <div className="card stack">
        <h1>{t('title')}</h1>
        <IdentityProviderRejection />
        <SignInForm onSignedIn={() => queryClient.invalidateQueries(SESSION_QUERY)} />
        <IdentityProviderButton />
        <ResetLink />
        <HelpLink page="sign-in" />
      </div>
    </AlonePage>
  );
}

/** Offers a link for a new password where the portal sends mails; otherwise, and until that is known, says to ask an operator. */
function ResetLink(): ReactNode {
  const { t } = useTranslation('signIn');
  const { data } = useGet<{ is_available: boolean }>(['password-resets'], '/password-resets', {
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data?.is_available) return <p className="hint">{t('help')}</p>;
  return (
    <>
      <Link href="/forgot-password">{t('reset.forgot')}</Link>
      <p className="hint">{t('reset.noAccess')}</p>
    </>
  );
}
