import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSession } from '../../api/session.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { usePageTitle } from '../../components/title.ts';
import { LanguageChoice } from '../preferences.tsx';
import { useSignOut } from '../user-menu.tsx';
import { ConfirmForm } from './confirm-form.tsx';
import { SecondFactorCards } from './second-factor-cards.tsx';

/** In place of the portal, for somebody who needs a second factor: sets one up, or asks for the one that there is. */
export function SecondFactorGate({ onDone }: { onDone: () => void }): ReactNode {
  const { t } = useTranslation('signIn');
  const {
    name,
    email,
    second_factor: { steps },
  } = useSession();
  const signOut = useSignOut();
  const isSetUp = steps.length > 0;
  const title = t(isSetUp ? 'confirm.title' : 'gate.title');
  usePageTitle(title, t('common:title'));
  return (
    <main className="alone">
      <div className="stack narrow">
        <header className="spread">
          <h1>{title}</h1>
          <HelpLink page="sign-in" anchor="second-factor" />
        </header>
        <p>{t('profile.signedInAs', { name, email })}</p>
        {isSetUp ? (
          <div className="card stack">
            <p>{t('gate.confirm')}</p>
            <ConfirmForm onConfirmed={onDone} cancel={t('common:account.signOut')} onClose={signOut} />
          </div>
        ) : (
          <>
            <p>{t('gate.about')}</p>
            <SecondFactorCards onChanged={onDone} />
            <div>
              <button type="button" className="button" onClick={signOut}>
                {t('common:account.signOut')}
              </button>
            </div>
          </>
        )}
      </div>
      <LanguageChoice />
    </main>
  );
}
