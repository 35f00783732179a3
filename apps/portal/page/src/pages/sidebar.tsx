import { ChevronsUpDown, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import { useCanIn, useSession } from '../api/session.ts';
import { OPERATOR_PAGES, type PageEntry, permittedPages } from './pages.ts';
import type { PaletteScope } from './palette/use-commands.ts';
import { PALETTE_KEY } from './palette/use-palette.tsx';
import { UserMenu } from './user-menu.tsx';
import './sidebar.css';

/** Navigation, the account of the page, search and the user's menu. */
export function Sidebar(props: {
  accountId: number | undefined;
  accountName: string | undefined;
  home: string;
  onPalette: (scope: PaletteScope) => void;
}): ReactNode {
  const { accountId, accountName, home, onPalette } = props;
  const { t } = useTranslation();
  const { role, accounts } = useSession();
  const can = useCanIn(accountId);
  return (
    <header className="bar">
      <Link href={home} className="brand">
        <img src="/icon.svg" alt="" width="28" height="28" />
        <span>{t('title')}</span>
      </Link>
      {role === 'operator' || accounts.length > 1 ? (
        <button type="button" className="bar-account" title={t('account.switch')} onClick={() => onPalette('accounts')}>
          <span dir="auto">
            {accountId === undefined ? t('account.choose') : (accountName ?? t('account.unknown'))}
          </span>
          <ChevronsUpDown aria-hidden="true" size={16} />
        </button>
      ) : (
        <p className="bar-account">
          <span dir="auto">{accountName}</span>
        </p>
      )}
      <button
        type="button"
        className="bar-search"
        aria-keyshortcuts="Control+K Meta+K"
        title={t('palette.label')}
        onClick={() => onPalette('all')}
      >
        <Search aria-hidden="true" size={16} />
        <span>{t('palette.open')}</span>
        <span className="bar-key" aria-hidden="true">
          {PALETTE_KEY}
        </span>
      </button>
      <nav aria-label={t('nav.label')}>
        {accountId !== undefined &&
          permittedPages(can).map((page) => <NavLink key={page.path} base={`/accounts/${accountId}`} page={page} />)}
        {role === 'operator' && (
          <>
            {accountId !== undefined && <hr />}
            {OPERATOR_PAGES.map((page) => (
              <NavLink key={page.path} base="/operator" page={page} />
            ))}
          </>
        )}
      </nav>
      <UserMenu accountId={accountId} />
    </header>
  );
}

function NavLink({ base, page }: { base: string; page: PageEntry }): ReactNode {
  const { t } = useTranslation();
  const [location] = useLocation();
  const href = base + page.path;
  const isCurrent = location === href || (page.path !== '' && location.startsWith(`${href}/`));
  const preload = () => page.Page.preload();
  return (
    <Link
      href={href}
      aria-current={isCurrent ? 'page' : undefined}
      title={t(`nav.${page.name}`)}
      onPointerEnter={preload}
      onFocus={preload}
    >
      <page.Icon aria-hidden="true" size={18} />
      <span>{t(`nav.${page.name}`)}</span>
    </Link>
  );
}
