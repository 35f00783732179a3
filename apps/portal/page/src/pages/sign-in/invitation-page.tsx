import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { call, isProblem } from '../../api/client.ts';
import type { SecondStep as Step } from '../../api/passkeys.ts';
import { type MemberRole, rememberAccount, SESSION_QUERY, useSessionQuery, useStartAgain } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Field, HiddenUsername, NewPasswordField } from '../../components/field.tsx';
import { Form, SubmitButton } from '../../components/form-dialog.tsx';
import { BadNote, ProblemNote, useProblemText } from '../../components/loaded.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { useAction } from '../../components/use-action.ts';
import { useSignOut } from '../user-menu.tsx';
import { AlonePage } from './alone-page.tsx';
import { SecondStep, SignInForm } from './sign-in-form.tsx';

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
export default function InvitationPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const [token] = useState(() => window.location.hash.slice(1));
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<Invitation>('POST', '/invitations/lookup', { body: { token } }),
  });
  if (invitation.isPending) return null;
  if (invitation.isError)
    return (
      <main className="alone">
        {isProblem(invitation.error) && invitation.error.status < 500 ? (
          <BadNote text={t('invitation.gone')} />
        ) : (
          <ProblemNote error={invitation.error} retry={() => void invitation.refetch()} />
        )}
      </main>
    );
  const { email, account_name, member_role, name, sign_in_required } = invitation.data;
  return (
    <AlonePage>
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
    </AlonePage>
  );
}

/** Accepts an invitation with a name and a new password. */
function NewPasswordForm(props: { token: string; email: string; name: string }): ReactNode {
  const { token, email } = props;
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const start = useStartAgain();
  const [name, setName] = useState(props.name);
  const [password, setPassword] = useState('');
  const [steps, setSteps] = useState<Step[] | null>(null);
  const accept = useAction({
    mutationFn: () =>
      call<{ second_step: Step[] } | undefined>('POST', '/invitations/accept', { body: { token, name, password } }),
    onSuccess: (asked) => (asked ? setSteps(asked.second_step) : start()),
  });
  const [, navigate] = useLocation();
  if (steps) return <SecondStep steps={steps} onSignedIn={start} onRestart={() => navigate('/', { replace: true })} />;
  return (
    <Form action={accept}>
      <HiddenUsername email={email} />
      <Field
        label={t('invitation.name')}
        autoComplete="name"
        dir="auto"
        required
        maxLength={200}
        value={name}
        onChange={setName}
      />
      <NewPasswordField
        label={t('invitation.password')}
        value={password}
        onChange={setPassword}
        error={accept.error && textOf(accept.error)}
      />
      <SubmitButton action={accept}>{t('invitation.submit')}</SubmitButton>
    </Form>
  );
}

/** Accepts an invitation for an existing user, who signs in first and keeps the password. */
function JoinAccount({ token, email }: { token: string; email: string }): ReactNode {
  const { t } = useTranslation('signIn');
  const session = useSessionQuery();
  const queryClient = useQueryClient();
  const start = useStartAgain();
  const join = useAction({
    mutationFn: () => call<{ account_id: number }>('POST', '/invitations/join', { body: { token } }),
    onSuccess: ({ account_id }) => {
      rememberAccount(account_id);
      return start();
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
          <BadNote text={t('invitation.gone')} />
        ) : (
          <ProblemNote error={join.error} />
        ))}
      <Button kind="main" className="button-wide" disabled={join.isPending} onClick={() => join.mutate()}>
        {t('join.submit')}
      </Button>
    </>
  );
}

function OtherUser({ email }: { email: string }): ReactNode {
  const { t } = useTranslation('signIn');
  const signOut = useSignOut(window.location.href);
  return (
    <>
      <p className="note note-warn">{t('join.other', { email })}</p>
      <Button className="button-wide" onClick={signOut}>
        {t('common:account.signOut')}
      </Button>
    </>
  );
}
