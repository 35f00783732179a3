import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { parseDevice } from '../../../../src/sign-in/parse-device.ts';
import { call } from '../../api/client.ts';
import { NEW_SIGN_INS, type NewSignIn, rememberOwnSignIn } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { useNotices } from '../../components/notices.tsx';
import { HelpLink } from '../../components/page-header.tsx';
import { fullTime } from '../../components/time.tsx';
import { useAction } from '../../components/use-action.ts';
import { useShowProblem } from '../../components/use-show-problem.ts';

/** Asks whether a sign-in from an unknown device was the user's. */
export default function NewSignInQuestion(props: { signIn: NewSignIn }): ReactNode {
  const { signIn } = props;
  const { session_id, at, user_agent, can_confirm } = signIn;
  const { t } = useTranslation('signIn');
  const queryClient = useQueryClient();
  const notices = useNotices();
  const showProblem = useShowProblem();
  const [, navigate] = useLocation();
  const answer = useAction({
    mutationFn: async (wasMe: boolean) => {
      if (!wasMe || can_confirm) await call('POST', `/new-sign-ins/${session_id}`, { body: { was_me: wasMe } });
      if (wasMe) rememberOwnSignIn(signIn);
    },
    onSuccess: async (_, wasMe) => {
      if (!wasMe) {
        navigate('/profile');
        notices.show({ text: t('newSignIn.ended') });
      }
      if (wasMe && !can_confirm) {
        const withoutIt = (known: NewSignIn[] = []) => known.filter((one) => one.session_id !== session_id);
        queryClient.setQueryData(NEW_SIGN_INS.queryKey, (known) => ({ sign_ins: withoutIt(known?.sign_ins) }));
        return;
      }
      await queryClient.invalidateQueries({ queryKey: NEW_SIGN_INS.queryKey });
      await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    },
    onError: showProblem,
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
        <Button disabled={answer.isPending} onClick={() => answer.mutate(true)}>
          {t('newSignIn.yes')}
        </Button>
        <Button disabled={answer.isPending} onClick={() => answer.mutate(false)}>
          {t('newSignIn.no')}
        </Button>
        <HelpLink page="sign-in" anchor="new-sign-in" />
      </div>
    </section>
  );
}
