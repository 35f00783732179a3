import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { call, isProblem } from '../../api/client.ts';
import { SESSION_QUERY, useSessionQuery } from '../../api/session.ts';
import { ProblemNote } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';
import { rememberAccount } from '../home-account.ts';
import { useSignOut } from '../user-menu.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Accepts an invitation for an existing user, who signs in first and keeps the password. */
export function JoinAccount({ token, email }: { token: string; email: string }): ReactNode {
  const { t } = useTranslation('signIn');
  const session = useSessionQuery();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const join = useAction({
    mutationFn: () => call<{ account_id: number }>('POST', '/invitations/join', { body: { token } }),
    onSuccess: async ({ account_id }) => {
      rememberAccount(account_id);
      await queryClient.fetchQuery({ ...SESSION_QUERY, staleTime: 0 });
      navigate('/', { replace: true });
    },
  });
  if (session.isError) return <ProblemNote error={session.error} retry={() => void session.refetch()} />;
  if (session.data === undefined) return null;
  if (session.data === null)
    return (
      <>
        <p>{t('join.signIn')}</p>
        <SignInForm email={email} onSignedIn={() => queryClient.invalidateQueries(SESSION_QUERY)} />
      </>
    );
  if (session.data.email !== email) return <OtherUser email={session.data.email} />;
  return (
    <>
      <p>{t('join.about')}</p>
      {join.isError &&
        (isProblem(join.error, 'invitation_not_found') ? (
          <p className="note note-bad" role="alert">
            {t('invitation.gone')}
          </p>
        ) : (
          <ProblemNote error={join.error} />
        ))}
      <button
        type="button"
        className="button button-main button-wide"
        disabled={join.isPending}
        onClick={() => join.mutate()}
      >
        {t('join.submit')}
      </button>
    </>
  );
}

function OtherUser({ email }: { email: string }): ReactNode {
  const { t } = useTranslation('signIn');
  const signOut = useSignOut(window.location.href);
  return (
    <>
      <p className="note note-warn">{t('join.other', { email })}</p>
      <button type="button" className="button button-wide" onClick={signOut}>
        {t('common:account.signOut')}
      </button>
    </>
  );
}
