import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { SESSION_QUERY } from '../../api/session.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { usePageTitle } from '../../components/page-header.tsx';
import { LanguageChoice } from '../preferences.tsx';
import { IdentityProviderButton, IdentityProviderRefusal } from './identity-provider.tsx';
import { SignInForm } from './sign-in-form.tsx';

export function SignInPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  usePageTitle(t('title'), t('common:title'));
  return (
    <main className="alone">
      <p className="brand">
        <img src="/icon.svg" alt="" width="32" height="32" />
        {t('common:title')}
      </p>
      <div className="card stack">
        <h1>{t('title')}</h1>
        <IdentityProviderRefusal />
        <SignInForm onSignedIn={() => queryClient.invalidateQueries(SESSION_QUERY)} />
        <IdentityProviderButton />
        <ResetLink />
        <HelpLink page="sign-in" />
      </div>
      <LanguageChoice />
    </main>
  );
}

/** Offers a link for a new password where the portal sends mails; otherwise says to ask an operator. */
function ResetLink(): ReactNode {
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

/** Whether the portal mails links for a new password; undefined until that is known. */
function useResetAvailable(): boolean | undefined {
  const { data } = useQuery({
    queryKey: ['password-resets'],
    queryFn: ({ signal }) => call<{ is_available: boolean }>('GET', '/password-resets', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.is_available;
}
