import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useGet } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { BadNote, ProblemNote } from '../../components/loaded.tsx';
import { useAction } from '../../components/use-action.ts';

/** Starts a sign-in by the identity provider, if there is one. `leavesWork` warns that what was typed on the open page is lost. */
export function IdentityProviderButton({ leavesWork = false }: { leavesWork?: boolean }): ReactNode {
  const { t } = useTranslation('signIn');
  const provider = useGet<{ name: string | null }>(['identity-provider'], '/session/oidc', {
    staleTime: Number.POSITIVE_INFINITY,
  });
  const start = useAction({
    mutationFn: () =>
      call<{ url: string }>('POST', '/session/oidc/start', { body: { path: window.location.pathname } }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const name = provider.data?.name;
  if (!name) return null;
  return (
    <>
      {start.isError && <ProblemNote error={start.error} />}
      <Button className="button-wide" disabled={start.isPending || start.isSuccess} onClick={() => start.mutate()}>
        {t('identityProvider.button', { name })}
      </Button>
      {leavesWork && <p className="hint">{t('identityProvider.leavesWork')}</p>}
    </>
  );
}

/** Why a sign-in by the identity provider was rejected; the callback puts the reason into the address. */
export function IdentityProviderRejection(): ReactNode {
  const { t, i18n } = useTranslation('signIn');
  const [reason] = useState(() => new URLSearchParams(window.location.search).get('identity_provider'));
  useEffect(() => {
    // Removes the reason from the address, so that neither a reload nor a bookmark shows it again.
    if (reason !== null) window.history.replaceState(window.history.state, '', window.location.pathname);
  }, [reason]);
  if (reason === null) return null;
  const key = `identityProvider.rejected.${reason}` as 'identityProvider.rejected.failed';
  const known = i18n.exists(`signIn:${key}`);
  return <BadNote text={t(known ? key : 'identityProvider.rejected.failed')} />;
}
