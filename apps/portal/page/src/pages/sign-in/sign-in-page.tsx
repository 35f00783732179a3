import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { SESSION_QUERY } from '../../api/session.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { usePageTitle } from '../../components/title.ts';
import { LanguageChoice } from '../preferences.tsx';
import { IdentityProviderButton, IdentityProviderRefusal } from './identity-provider.tsx';
import { ResetLink } from './reset-link.tsx';
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
