import type { UserSession } from '@orders/database/users/sessions.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { parseDevice } from '../../../../src/sign-in/parse-device.ts';
import type { Json } from '../../api/client.ts';
import { call, isProblem } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Field, NewPasswordField } from '../../components/field.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { useNotices } from '../../components/notices.tsx';
import { ProblemNote, useProblemText } from '../../components/problem-note.tsx';
import { fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { SecondFactorCards } from './second-factor-cards.tsx';

type OpenSession = Json<UserSession> & { current: boolean };

/** The user's own sessions and password. */
export function ProfilePage(): ReactNode {
  const { t } = useTranslation('signIn');
  const { name, email } = useSession();
  const queryClient = useQueryClient();
  return (
    <div className="stack narrow">
      <header className="spread">
        <h1>{t('profile.title')}</h1>
        <HelpLink page="sign-in" anchor="sessions" />
      </header>
      <p>{t('profile.signedInAs', { name, email })}</p>
      <Sessions />
      <PasswordForm />
      <SecondFactorCards onChanged={() => void queryClient.invalidateQueries()} />
    </div>
  );
}

function Sessions(): ReactNode {
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: () => call<{ sessions: OpenSession[] }>('GET', '/sessions'),
  });
  const end = useAction({
    mutationFn: (id: string) => call('DELETE', `/sessions/${id}`),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['sessions'] }),
  });
  if (sessions.isError) return <ProblemNote error={sessions.error} retry={() => void sessions.refetch()} />;
  return (
    <section className="card stack">
      <h2>{t('profile.sessions')}</h2>
      <ul className="plain stack">
        {sessions.data?.sessions.map(({ session_id, created_at, user_agent, current }) => (
          <li key={session_id} className="spread">
            <span>
              <Device userAgent={user_agent} />
              <br />
              <span className="hint">{t('profile.since', { time: fullTime(created_at) })}</span>
            </span>
            {current ? (
              <span className="badge">{t('profile.current')}</span>
            ) : (
              <button type="button" className="button" onClick={() => end.mutate(session_id)}>
                {t('profile.end')}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The browser and the system in words; the original on hover. */
function Device({ userAgent }: { userAgent: string | null }): ReactNode {
  const { t } = useTranslation('signIn');
  const device = userAgent ? parseDevice(userAgent) : null;
  if (device === null) return <span title={userAgent ?? undefined}>{t('profile.unknownDevice')}</span>;
  const { browser, system } = device;
  return (
    <span title={userAgent ?? undefined}>
      {system === null ? <bdi>{browser}</bdi> : t('profile.device', { browser, system })}
    </span>
  );
}

function PasswordForm(): ReactNode {
  const { t } = useTranslation('signIn');
  const { email } = useSession();
  const textOf = useProblemText();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useAction({
    mutationFn: () => call('POST', '/password', { body: { current_password: current, new_password: next } }),
    onSuccess: async () => {
      setCurrent('');
      setNext('');
      notices.show({ text: t('profile.changed') });
      await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  const wrongText = isProblem(change.error, 'wrong_credentials') ? t('wrong') : textOf(change.error);
  const errorText = change.isError ? wrongText : null;
  const isAboutNew = isProblem(change.error) && change.error.errors.some(({ pointer }) => pointer === '/new_password');
  return (
    <form className="card stack" onSubmit={submit}>
      <h2>{t('profile.password')}</h2>
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <Field
        label={t('profile.currentPassword')}
        type="password"
        autoComplete="current-password"
        dir="ltr"
        required
        value={current}
        onChange={(event) => setCurrent(event.target.value)}
        error={isAboutNew ? null : errorText}
      />
      <NewPasswordField
        label={t('profile.newPassword')}
        value={next}
        onChange={setNext}
        error={isAboutNew ? errorText : null}
      />
      <button type="submit" className="button" disabled={change.isPending}>
        {t('profile.change')}
      </button>
    </form>
  );
}
