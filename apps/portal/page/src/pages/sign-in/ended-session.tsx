import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import '../../components/dialog.css';
import { SESSION_QUERY } from '../../api/session.ts';
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
