import { useQueryClient } from '@tanstack/react-query';
import { type ComponentType, type ReactNode, Suspense, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { needsSecondFactor, SESSION_QUERY, type Session, SessionContext, useSessionQuery } from './api/session.ts';
import { ProblemNote } from './components/loaded.tsx';
import { PageBoundary } from './components/page-boundary.tsx';
import { forgetFailedPages, lazyPage } from './pages/lazy-page.tsx';
import { Shell } from './pages/shell.tsx';
import { SecondFactorGate } from './pages/sign-in/confirm-form.tsx';
import { ConfirmIdentity, EndedSession } from './pages/sign-in/session-dialogs.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';

/** Pages that take no session, by their path. */
const OPEN_PAGES: Record<string, ComponentType> = {
  '/invitation': lazyPage('invitation', () => import('./pages/sign-in/invitation-page.tsx'), ['signIn']),
  '/forgot-password': lazyPage('forgot-password', () => import('./pages/sign-in/forgot-password-page.tsx'), ['signIn']),
  '/new-password': lazyPage('new-password', () => import('./pages/sign-in/new-password-page.tsx'), ['signIn']),
};

/** Shows a page that takes no session, the sign-in page or, with a session, the portal. */
export function App(): ReactNode {
  const [location] = useLocation();
  const Page = OPEN_PAGES[location] ?? Portal;
  return (
    <PageBoundary resetKeys={[]} onReset={forgetFailedPages}>
      <Suspense>
        <Page />
      </Suspense>
    </PageBoundary>
  );
}

/** Once somebody has signed in, their pages stay open when the session ends, so that nothing typed is lost. */
function Portal(): ReactNode {
  const queryClient = useQueryClient();
  const session = useSessionQuery();
  const [user, setUser] = useState<Session | null>(null);
  const isOther = user !== null && session.data?.email !== undefined && session.data.email !== user.email;
  if (session.data && session.data !== user && !isOther) setUser(session.data);
  // It stays until the user has seen the recovery codes, although the session has its second factor before.
  const [isGated, setGated] = useState(false);
  if (session.data && needsSecondFactor(session.data) && !isGated) setGated(true);
  const leaveGate = async () => {
    await queryClient.fetchQuery({ ...SESSION_QUERY, staleTime: 0 });
    await queryClient.invalidateQueries();
    setGated(false);
  };
  useEffect(() => {
    // What the user before typed must not be sent in another name.
    if (isOther) window.location.replace('/');
  }, [isOther]);
  if (isOther) return null;
  if (user !== null)
    return (
      <SessionContext value={user}>
        {isGated ? (
          <Suspense>
            <SecondFactorGate onDone={leaveGate} />
          </Suspense>
        ) : (
          <Shell />
        )}
        <Suspense>
          <ConfirmIdentity />
        </Suspense>
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
