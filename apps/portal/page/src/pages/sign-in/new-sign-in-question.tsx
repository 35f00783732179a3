import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { parseDevice } from '../../../../src/sign-in/parse-device.ts';
import { call } from '../../api/client.ts';
import { NEW_SIGN_INS, type NewSignIn } from '../../api/new-sign-ins.ts';
import { HelpLink } from '../../components/help-link.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { fullTime } from '../../components/time.tsx';
import './new-sign-in.css';
import { useAction } from '../../components/use-action.ts';

/** Asks whether a sign-in from an unknown device was the user's. */
export function NewSignInQuestion({
  signIn: { session_id, at, user_agent, can_confirm },
}: {
  signIn: NewSignIn;
}): ReactNode {
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  const notices = useNotices();
  const textOf = useProblemText();
  const [, navigate] = useLocation();
  const answer = useAction({
    mutationFn: (wasMe: boolean) => call('POST', `/new-sign-ins/${session_id}`, { body: { was_me: wasMe } }),
    onSuccess: async (_, wasMe) => {
      if (!wasMe) {
        navigate('/profile');
        notices.show({ text: t('newSignIn.ended') });
      }
      await queryClient.invalidateQueries({ queryKey: NEW_SIGN_INS.queryKey });
      await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    },
    onError: (error) => notices.show({ kind: 'bad', text: textOf(error) }),
  });
  const device = user_agent === null ? null : parseDevice(user_agent);
  const name =
    device === null
      ? t('profile.unknownDevice')
      : device.system === null
        ? device.browser
        : t('profile.device', { browser: device.browser, system: device.system });
  return (
    <section className="note note-warn new-sign-in" aria-label={t('newSignIn.label')}>
      <p>{t('newSignIn.question', { device: name, time: fullTime(at) })}</p>
      <div className="row">
        {can_confirm && (
          <button type="button" className="button" disabled={answer.isPending} onClick={() => answer.mutate(true)}>
            {t('newSignIn.yes')}
          </button>
        )}
        <button type="button" className="button" disabled={answer.isPending} onClick={() => answer.mutate(false)}>
          {t('newSignIn.no')}
        </button>
        <HelpLink page="sign-in" anchor="new-sign-in" />
      </div>
    </section>
  );
}
