import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { call, isProblem } from '../../api/client.ts';
import { SESSION_QUERY } from '../../api/session.ts';
import { Field } from '../../components/field.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { ProblemNote, useProblemText } from '../../components/problem-note.tsx';
import { LanguageChoice } from '../preferences.tsx';

interface Invitation {
  email: string;
  role: 'operator' | 'account_holder';
  /** Set for an existing user. */
  name: string | null;
  account_name: string | null;
}

/** The target of a one-time link. The token is in the fragment, which browsers do not send to servers. */
export function InvitationPage(): ReactNode {
  const { t } = useTranslation('signIn');
  const textOf = useProblemText();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const [token] = useState(() => window.location.hash.slice(1));
  const [typed, setName] = useState<string | null>(null);
  const [password, setPassword] = useState('');
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<Invitation>('POST', '/invitations/look', { body: { token } }),
  });
  const name = typed ?? invitation.data?.name ?? '';
  const accept = useMutation({
    mutationFn: () => call('POST', '/invitations/accept', { body: { token, name, password } }),
    onSuccess: async () => {
      await queryClient.fetchQuery({ ...SESSION_QUERY, staleTime: 0 });
      navigate('/', { replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate();
  };
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
  const { email, account_name } = invitation.data;
  return (
    <main className="alone">
      <form className="card stack" onSubmit={submit}>
        <h1>{t('invitation.title')}</h1>
        <p>
          {t('invitation.for', { email })}
          <br />
          {account_name === null ? t('invitation.operator') : t('invitation.account', { name: account_name })}
        </p>
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <Field
          label={t('invitation.name')}
          autoComplete="name"
          dir="auto"
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label={t('invitation.password')}
          type="password"
          autoComplete="new-password"
          dir="ltr"
          required
          minLength={15}
          maxLength={128}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={accept.isError ? textOf(accept.error) : null}
        />
        <button type="submit" className="button button-main" disabled={accept.isPending}>
          {t('invitation.submit')}
        </button>
        <HelpLink page="sign-in" anchor="first-time" />
      </form>
      <LanguageChoice />
    </main>
  );
}
