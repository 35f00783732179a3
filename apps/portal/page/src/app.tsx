import { useQueryClient } from '@tanstack/react-query';
import {
  type ComponentType,
  type ReactNode,
  Suspense,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { onConfirmationNeeded } from './api/client.ts';
import { needsSecondFactor, SESSION_QUERY, type Session, SessionContext, useSessionQuery } from './api/session.ts';
import { Dialog } from './components/dialog.tsx';
import { PageBoundary } from './components/page-boundary.tsx';
import { ProblemNote } from './components/problem-note.tsx';
import { forgetFailedPages, lazyPage } from './pages/lazy-page.tsx';
import { Shell } from './pages/shell.tsx';
import { ConfirmForm, SecondFactorGate } from './pages/sign-in/confirm-form.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import './components/dialog.css';
import { IdentityProviderButton } from './pages/sign-in/identity-provider.tsx';
import { SignInForm } from './pages/sign-in/sign-in-form.tsx';

const InvitationPage = lazyPage(
  'invitation',
  async () => (await import('./pages/sign-in/invitation-page.tsx')).InvitationPage,
  ['signIn'],
);

const ForgotPasswordPage = lazyPage(
  'forgot-password',
  async () => (await import('./pages/sign-in/forgot-password-page.tsx')).ForgotPasswordPage,
  ['signIn'],
);
const NewPasswordPage = lazyPage(
  'new-password',
  async () => (await import('./pages/sign-in/new-password-page.tsx')).NewPasswordPage,
  ['signIn'],
);

/** Pages that take no session, by their path. */
const OPEN_PAGES: Record<string, ComponentType> = {
  '/invitation': InvitationPage,
  '/forgot-password': ForgotPasswordPage,
  '/new-password': NewPasswordPage,
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

/** Opens a dialog when a request needs a proof of identity; the request goes on after it. */
function ConfirmIdentity(): ReactNode {
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  const [finish, setFinish] = useState<{ run: (isConfirmed: boolean) => void } | null>(null);
  useEffect(() => {
    onConfirmationNeeded(async (reason) => {
      // The ways to confirm can have changed in another tab.
      const session = await queryClient.fetchQuery({ ...SESSION_QUERY, staleTime: 0 });
      if (!session) return false;
      // SecondFactorGate asks for it in place of the page.
      if (reason === 'second_factor_required' && needsSecondFactor(session)) return false;
      return new Promise<boolean>((run) => setFinish({ run }));
    });
    return () => onConfirmationNeeded(async () => false);
  }, [queryClient]);
  if (finish === null) return null;
  const close = (isConfirmed: boolean) => {
    setFinish(null);
    finish.run(isConfirmed);
    if (isConfirmed) void queryClient.invalidateQueries(SESSION_QUERY);
  };
  return (
    <Dialog title={t('confirm.title')} onClose={() => close(false)}>
      <div className="stack">
        <p>{t('confirm.about')}</p>
        <ConfirmForm onConfirmed={() => close(true)} onClose={() => close(false)} />
      </div>
    </Dialog>
  );
}

/** Asks to sign in again above the open page. It cannot be closed, because nothing works without a session. */
function EndedSession({ email }: { email: string }): ReactNode {
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLInputElement>('input[type="password"]')?.focus();
    return () => element?.close();
  }, []);
  const goOn = async () => {
    await queryClient.invalidateQueries(SESSION_QUERY);
    await queryClient.invalidateQueries();
  };
  return (
    <dialog
      ref={dialog}
      className="dialog dialog-narrow"
      aria-labelledby={titleId}
      onKeyDown={(event) => event.key === 'Escape' && event.preventDefault()}
      onCancel={(event) => event.preventDefault()}
      // A browser closes it on the second gesture to go back all the same.
      onClose={({ currentTarget }) => currentTarget.isConnected && !currentTarget.open && currentTarget.showModal()}
    >
      <div className="stack">
        <h2 id={titleId}>{t('title')}</h2>
        <p>{t('ended')}</p>
        <SignInForm email={email} onSignedIn={goOn} />
        <IdentityProviderButton leavesWork />
      </div>
    </dialog>
  );
}
