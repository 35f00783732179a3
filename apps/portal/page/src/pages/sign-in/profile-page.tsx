import type { UserSession } from '@orders/database/users/sessions.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { parseDevice } from '../../../../src/sign-in/parse-device.ts';
import { call, isProblem, type Json } from '../../api/client.ts';
import { useGet } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { HiddenUsername, NewPasswordField, PasswordField } from '../../components/field.tsx';
import { Form } from '../../components/form-dialog.tsx';
import { Loaded, useProblemText } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { useAction } from '../../components/use-action.ts';
import { NameSince, SecondFactorCards } from './second-factor-cards.tsx';

type OpenSession = Json<UserSession> & { current: boolean };

/** The user's own sessions and password. */
export default function ProfilePage(): ReactNode {
  const { t } = useTranslation('signIn');
  const { name, email } = useSession();
  const queryClient = useQueryClient();
  return (
    <div className="stack">
      <header className="spread">
        <h1>{t('common:account.profile')}</h1>
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
  const query = useGet<{ sessions: OpenSession[] }>(['sessions'], '/sessions');
  const end = useAction({
    mutationFn: async (ids: string[]) => {
      for (const id of ids) await call('DELETE', `/sessions/${id}`);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const others = query.data?.sessions.filter(({ current }) => !current).map(({ session_id }) => session_id) ?? [];
  return (
    <Card
      title={t('profile.sessions')}
      actions={
        others.length > 1 && (
          <Button disabled={end.isPending} onClick={() => end.mutate(others)}>
            {t('profile.endOthers')}
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ sessions }) => (
          <ul className="plain stack">
            {sessions.map(({ session_id, created_at, user_agent, current }) => (
              <li key={session_id} className="spread">
                <NameSince name={<Device userAgent={user_agent} />} since={created_at} />
                {current ? (
                  <span className="badge">{t('profile.current')}</span>
                ) : (
                  <Button disabled={end.isPending} onClick={() => end.mutate([session_id])}>
                    {t('profile.end')}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

/** The browser and the system in words; the original on hover. */
function Device({ userAgent }: { userAgent: string | null }): ReactNode {
  const { t } = useTranslation('signIn');
  const { browser, system } = (userAgent && parseDevice(userAgent)) || { browser: t('profile.unknownDevice') };
  return (
    <span title={userAgent ?? undefined}>
      {system ? t('profile.device', { browser, system }) : <bdi>{browser}</bdi>}
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
  const wrongText = isProblem(change.error, 'wrong_credentials') ? t('wrong') : textOf(change.error);
  const errorText = change.isError ? wrongText : null;
  const isAboutNew = isProblem(change.error) && change.error.errors.some(({ pointer }) => pointer === '/new_password');
  return (
    <Form className="card stack" action={change}>
      <h2>{t('profile.password')}</h2>
      <HiddenUsername email={email} />
      <PasswordField
        label={t('profile.currentPassword')}
        value={current}
        onChange={setCurrent}
        error={isAboutNew ? null : errorText}
      />
      <NewPasswordField
        label={t('profile.newPassword')}
        value={next}
        onChange={setNext}
        error={isAboutNew ? errorText : null}
      />
      <div className="row">
        <Button type="submit" disabled={change.isPending}>
          {t('profile.change')}
        </Button>
      </div>
    </Form>
  );
}
