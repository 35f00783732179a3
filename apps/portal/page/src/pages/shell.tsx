import { useQuery } from '@tanstack/react-query';
import { ChevronsUpDown, Search } from 'lucide-react';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Redirect, Route, Switch, useLocation, useRoute } from 'wouter';
import {
  AccountContext,
  homeAccount,
  isOwnSignIn,
  liveOf,
  NEW_SIGN_INS,
  rememberAccount,
  useAccount,
  useCanIn,
  useOwnAccount,
  useSession,
} from '../api/session.ts';
import { EmptyState, PageSkeleton } from '../components/loaded.tsx';
import { PageBoundary } from '../components/page-boundary.tsx';
import { SectionTabs, usePageTitle } from '../components/page-header.tsx';
import type { Tab } from '../components/tab-links.tsx';
import { PALETTE_KEY } from '../components/use-key-down.ts';
import { forgetFailedPages, lazyPage } from './lazy-page.tsx';
import {
  ACCOUNT_SECTIONS,
  findPage,
  OPERATOR_SECTIONS,
  offeredSections,
  ProfilePage,
  pageNameAt,
  type Section,
} from './pages.ts';
import type { PaletteScope } from './palette/use-commands.ts';
import { usePalette } from './palette/use-palette.tsx';
import { TestNote } from './test-mode.tsx';
import { UserMenu } from './user-menu.tsx';
import './sidebar.css';

const NewSignInQuestion = lazyPage('new-sign-in', () => import('./sign-in/new-sign-in-question.tsx'), ['signIn']);

/** Asks the user about the newest sign-in from an unknown device, in each session but that one. */
function NewSignInNote(): ReactNode {
  const { data } = useQuery(NEW_SIGN_INS);
  const newest = data?.sign_ins.find((signIn) => !isOwnSignIn(signIn));
  return newest ? (
    // A boundary of its own: while the question loads, the page stays in the document.
    <Suspense>
      <NewSignInQuestion key={newest.session_id} signIn={newest} />
    </Suspense>
  ) : null;
}

/** The frame of every page behind the sign-in. */
export function Shell(): ReactNode {
  const { t } = useTranslation();
  const { role, accounts } = useSession();
  const [location] = useLocation();
  const [, match] = useRoute('/accounts/:accountId/*?');
  const openAccountId = match?.accountId ? Number(match.accountId) : undefined;
  const home = homeAccount(accounts);
  const [lastAccountId, setLastAccountId] = useState(openAccountId);
  // The profile belongs to no account: what was open before it stays, in test mode too.
  if (openAccountId !== undefined && openAccountId !== lastAccountId) setLastAccountId(openAccountId);
  const accountId = openAccountId ?? (role === 'operator' ? undefined : (lastAccountId ?? home?.account_id));
  const accountName = useAccount(accountId)?.name;
  const homePath = role === 'operator' ? '/operator' : home ? `/accounts/${home.account_id}/orders` : '/profile';
  const can = useCanIn(openAccountId);
  const own = useOwnAccount(openAccountId);
  const { palette, open } = usePalette(accountId);
  const name = pageNameAt(location);
  const tabs = useSectionTabs(location);
  useEffect(() => {
    if (own) rememberAccount(own.test_of ?? own.account_id);
  }, [own]);
  usePageTitle(name ? t(name) : '', openAccountId === undefined ? undefined : accountName, t('title'));
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('nav.skip')}
      </a>
      <Sidebar accountId={accountId} accountName={accountName} home={homePath} onPalette={open} />
      <main id="content" tabIndex={-1}>
        <TestNote accountId={openAccountId} />
        {own?.suspended && (
          <p className="note note-warn">{t(own.move ? `account.move.${own.move}` : 'account.suspended')}</p>
        )}
        {role === 'account_holder' && !home && <p className="note note-warn">{t('account.none')}</p>}
        <NewSignInNote />
        <PageBoundary resetKeys={[location]} onReset={forgetFailedPages}>
          <SectionTabs value={tabs}>
            <Suspense fallback={<PageSkeleton />}>
              <Switch>
                <Route path="/profile" component={ProfilePage} />
                {role === 'operator' &&
                  OPERATOR_PAGES.map(({ path, Page }) => (
                    <Route key={path} path={`/operator${path}`} component={Page} />
                  ))}
                {ACCOUNT_PAGES.map(({ path, permission, Page }) => (
                  <Route key={path} path={`/accounts/:accountId${path}/*?`}>
                    {(params) =>
                      permission !== undefined && !can(permission) ? (
                        <EmptyState title={t('problem.not_permitted')} />
                      ) : (
                        <AccountContext value={Number(params.accountId)}>
                          <Page key={params.accountId} />
                        </AccountContext>
                      )
                    }
                  </Route>
                ))}
                <Route path="/">
                  <Redirect to={homePath} replace />
                </Route>
                <Route>
                  <EmptyState title={t('problem.not_found')} />
                </Route>
              </Switch>
            </Suspense>
          </SectionTabs>
        </PageBoundary>
      </main>
      {palette}
    </div>
  );
}

const ACCOUNT_PAGES = ACCOUNT_SECTIONS.flatMap(({ pages }) => pages);
const OPERATOR_PAGES = OPERATOR_SECTIONS.flatMap(({ pages }) => pages);

/** The pages of the section at a path; none if it has only one. */
function useSectionTabs(path: string): Tab[] {
  const { t } = useTranslation();
  const found = findPage(path);
  if (!found || found.section.pages.length === 1) return [];
  const { page, section, base } = found;
  return section.pages.map((one) => ({
    name: t(`nav.${one.name}`),
    href: base + one.path,
    isCurrent: one === page,
  }));
}

/** Navigation, the account of the page, search and the user's menu. */
function Sidebar(props: {
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
      {role === 'operator' || liveOf(accounts).length > 1 ? (
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
          offeredSections(can).map((section) => (
            <NavLink key={section.name} base={`/accounts/${accountId}`} section={section} />
          ))}
        {role === 'operator' && (
          <>
            {accountId !== undefined && <hr />}
            {OPERATOR_SECTIONS.map((section) => (
              <NavLink key={section.name} base="/operator" section={section} />
            ))}
          </>
        )}
      </nav>
      <UserMenu accountId={accountId} />
    </header>
  );
}

function NavLink({ base, section }: { base: string; section: Section }): ReactNode {
  const { t } = useTranslation();
  const [location] = useLocation();
  const { name, Icon, pages } = section;
  const found = findPage(location);
  const isCurrent = found?.section === section && found.base === base;
  const preload = () => pages[0].Page.preload();
  const link = useRef<HTMLAnchorElement>(null);
  // On a phone the navigation scrolls sideways.
  useEffect(() => {
    if (isCurrent) link.current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [isCurrent]);
  return (
    <Link
      ref={link}
      href={base + pages[0].path}
      aria-current={isCurrent ? 'page' : undefined}
      title={t(`nav.${name}`)}
      onPointerEnter={preload}
      onFocus={preload}
    >
      <Icon aria-hidden="true" size={18} />
      <span>{t(`nav.${name}`)}</span>
    </Link>
  );
}
