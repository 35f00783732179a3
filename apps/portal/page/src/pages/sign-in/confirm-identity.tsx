import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { onConfirmationNeeded } from '../../api/client.ts';
import { needsSecondFactor, SESSION_QUERY } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { ConfirmForm } from './confirm-form.tsx';

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
