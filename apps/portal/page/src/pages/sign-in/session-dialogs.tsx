import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { onConfirmationNeeded } from '../../api/client.ts';
import { needsSecondFactor, SESSION_QUERY } from '../../api/session.ts';
import { Dialog } from '../../components/form-dialog.tsx';
import { ConfirmForm } from './confirm-form.tsx';
import { IdentityProviderButton } from './identity-provider.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Asks to sign in again above the open page. It cannot be closed, because nothing works without a session. */
export function EndedSession({ email }: { email: string }): ReactNode {
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

/** Opens a dialog when a request needs a proof of identity; the request goes on after it. */
export function ConfirmIdentity(): ReactNode {
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
