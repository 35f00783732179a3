import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { SessionContext, useSessionQuery } from './api/session.ts';
import { ProblemNote } from './components/problem-note.tsx';
import { Shell } from './pages/shell.tsx';
import { InvitationPage } from './pages/sign-in/invitation-page.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';

/** Shows an invitation, the sign-in page or, with a session, the portal. */
export function App(): ReactNode {
  const { t } = useTranslation();
  const session = useSessionQuery();
  if (window.location.pathname === '/invitation') return <InvitationPage />;
  if (session.isPending) return <p className="alone">{t('state.loading')}</p>;
  if (session.isError)
    return (
      <main className="alone">
        <ProblemNote error={session.error} retry={() => void session.refetch()} />
      </main>
    );
  if (session.data === null) return <SignInPage />;
  return (
    <SessionContext value={session.data}>
      <Shell />
    </SessionContext>
  );
}
