import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CircleUser } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { LanguageSelect, ThemeSelect } from './preferences.tsx';

/** The signed-in user, language, theme and sign-out. */
export function UserMenu(): ReactNode {
  const { t } = useTranslation();
  const { name, email, account } = useSession();
  const queryClient = useQueryClient();
  const [location, navigate] = useLocation();
  const menu = useRef<HTMLDetailsElement>(null);
  const signOut = useMutation({
    mutationFn: () => call('DELETE', '/session'),
    onSuccess: () => {
      queryClient.clear();
      navigate('/');
      queryClient.setQueryData(['session'], null);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever the location changes.
  useEffect(() => {
    menu.current?.removeAttribute('open');
  }, [location]);
  return (
    <details ref={menu} className="user-menu">
      <summary aria-label={t('nav.menu')}>
        <CircleUser aria-hidden="true" size={22} />
      </summary>
      <div className="card stack">
        <p>
          <strong dir="auto">{name}</strong>
          <br />
          <span className="hint">{email}</span>
          {account && (
            <>
              <br />
              <span className="hint" dir="auto">
                {account.name}
              </span>
            </>
          )}
        </p>
        <LanguageSelect />
        <ThemeSelect />
        <Link href="/profile">{t('account.profile')}</Link>
        <button type="button" className="button" onClick={() => signOut.mutate()}>
          {t('account.signOut')}
        </button>
      </div>
    </details>
  );
}
