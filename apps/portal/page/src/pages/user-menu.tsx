import { LogOut, UserRound } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import { call } from '../api/client.ts';
import { useOwnAccount, useSession } from '../api/session.ts';
import { clearDrafts } from '../components/drafts.ts';
import { HelpLink } from '../components/page-header.tsx';
import { useAction } from '../components/use-action.ts';
import { useShowProblem } from '../components/use-show-problem.ts';
import { mayBeAlerted, NewOrderChoices } from './new-order-choices.tsx';
import { DensityChoice, LanguageChoice, ThemeChoice } from './preferences.tsx';
import { TestSwitch } from './test-mode.tsx';
import './user-menu.css';

/**
 * Ends the session and starts the portal afresh, so that nothing of the user stays in memory.
 *
 * @param next the page after it; with the address of the open one, the page is loaded again.
 */
export function useSignOut(next = '/'): () => void {
  const showProblem = useShowProblem();
  const { mutate } = useAction({
    mutationFn: () => call('DELETE', '/session'),
    onSuccess: () => {
      clearDrafts();
      if (next === window.location.href) window.location.reload();
      else window.location.assign(next);
    },
    onError: showProblem,
  });
  return () => mutate();
}

/** The signed-in user, preferences and sign-out, in the browser's top layer. */
export function UserMenu({ accountId }: { accountId: number | undefined }): ReactNode {
  const { t } = useTranslation();
  const { name, email, role } = useSession();
  const own = useOwnAccount(accountId);
  const [location] = useLocation();
  const signOut = useSignOut();
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever the location changes.
  useEffect(() => {
    if (menu.current?.matches(':popover-open')) menu.current.hidePopover();
  }, [location]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keeps keys that are pressed in the menu from the shortcuts of the page.
    <div className="user-menu" onKeyDown={(event) => event.stopPropagation()}>
      <button
        ref={button}
        type="button"
        className="user-button"
        popoverTarget={id}
        aria-label={`${t('nav.menu')}: ${name}`}
        title={name}
      >
        <span className="avatar" data-initials={initialsOf(name)} />
        <span className="user-name" dir="auto">
          {name}
        </span>
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        className="menu stack"
        onToggle={({ newState }) => {
          // Escape returns the focus by itself; a click outside that hits nothing else leaves it on the page as a whole.
          if (newState === 'closed' && document.activeElement?.matches('body, main')) button.current?.focus();
        }}
      >
        <p className="menu-user">
          <strong>
            <bdi>{name}</bdi>
          </strong>
          <span className="hint">{email}</span>
          {(own || role === 'operator') && (
            <span className="hint">{t('account.role', { role: t(`role.${own?.role ?? 'operator'}`) })}</span>
          )}
        </p>
        <TestSwitch accountId={accountId} />
        <LanguageChoice />
        <ThemeChoice />
        <DensityChoice />
        {mayBeAlerted(own) && <NewOrderChoices />}
        <div className="menu-actions">
          <Link href="/profile">
            <UserRound aria-hidden="true" size={16} />
            {t('account.profile')}
          </Link>
          <HelpLink />
          <button type="button" onClick={signOut}>
            <LogOut aria-hidden="true" size={16} className="flips" />
            {t('account.signOut')}
          </button>
        </div>
      </div>
    </div>
  );
}

/** The first letters of the first and the last word of a name. */
function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return letters.map((word) => Array.from(word ?? '')[0]?.toLocaleUpperCase() ?? '').join('');
}
