import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { type Session, SessionContext, useSessionQuery } from './api/session.ts';
import { PageBoundary } from './components/page-boundary.tsx';
import { ProblemNote } from './components/problem-note.tsx';
import { forgetFailedPages, lazyPage } from './pages/lazy-page.tsx';
import { Shell } from './pages/shell.tsx';
import { EndedSession } from './pages/sign-in/ended-session.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';

const InvitationPage = lazyPage(
  'invitation',
  async () => (await import('./pages/sign-in/invitation-page.tsx')).InvitationPage,
  ['signIn'],
);

/** Shows an invitation, the sign-in page or, with a session, the portal. */
export function App(): ReactNode {
  const [location] = useLocation();
  return (
    <PageBoundary resetKeys={[]} onReset={forgetFailedPages}>
      <Suspense>{location === '/invitation' ? <InvitationPage /> : <Portal />}</Suspense>
    </PageBoundary>
  );
}

/** Once somebody has signed in, their pages stay open when the session ends, so that nothing typed is lost. */
function Portal(): ReactNode {
  const session = useSessionQuery();
  const [user, setUser] = useState<Session | null>(null);
  const isOther = user !== null && session.data?.email !== undefined && session.data.email !== user.email;
  if (session.data && session.data !== user && !isOther) setUser(session.data);
  useEffect(() => {
    // What the user before typed must not be sent in another name.
    if (isOther) window.location.replace('/');
  }, [isOther]);
  if (isOther) return null;
  if (user !== null)
    return (
      <SessionContext value={user}>
        <Shell />
        {session.data === null && (
          // Its own, so that loading its texts does not take the page out of the document.
          <Suspense>
            <EndedSession email={user.email} />
          </Suspense>
        )}
      </SessionContext>
    );
  if (session.isError)
    return (
      <main className="alone">
        <ProblemNote error={session.error} retry={() => void session.refetch()} />
      </main>
    );
  return session.data === null ? <SignInPage /> : null;
}
