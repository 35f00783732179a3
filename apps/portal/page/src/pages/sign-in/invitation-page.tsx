import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import type { MemberRole } from '../../api/session.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { LanguageChoice } from '../preferences.tsx';
import { JoinAccount } from './join-account.tsx';
import { NewPasswordForm } from './new-password-form.tsx';

interface Invitation {
  email: string;
  /** Null for an operator. */
  member_role: MemberRole | null;
  /** Of a user whose password the link sets. */
  name: string | null;
  account_name: string | null;
  /** Whether it belongs to somebody who signs in to accept it, and keeps the password. */
  sign_in_required: boolean;
}

/** The target of a one-time link. The token is in the fragment, which browsers do not send to servers. */
export function InvitationPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const [token] = useState(() => window.location.hash.slice(1));
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<Invitation>('POST', '/invitations/look', { body: { token } }),
  });
  if (invitation.isPending) return null;
  if (invitation.isError)
    return (
      <main className="alone">
        {isProblem(invitation.error) && invitation.error.status < 500 ? (
          <p className="note note-bad" role="alert">
            {t('invitation.gone')}
          </p>
        ) : (
          <ProblemNote error={invitation.error} retry={() => void invitation.refetch()} />
        )}
      </main>
    );
  const { email, account_name, member_role, name, sign_in_required } = invitation.data;
  return (
    <main className="alone">
      <div className="card stack">
        <h1>{t('invitation.title')}</h1>
        <p>
          {t('invitation.for', { email })}
          {account_name !== null && (
            <>
              <br />
              {t('invitation.account', { name: account_name })}
            </>
          )}
          <br />
          {t('invitation.role', { role: t(`common:role.${member_role ?? 'operator'}`) })}
        </p>
        {sign_in_required ? (
          <JoinAccount token={token} email={email} />
        ) : (
          <NewPasswordForm token={token} email={email} name={name ?? ''} />
        )}
        <HelpLink page="sign-in" anchor={sign_in_required ? 'another-account' : 'first-time'} />
      </div>
      <LanguageChoice />
    </main>
  );
}
