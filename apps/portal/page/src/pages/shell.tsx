import { type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Redirect, Route, Switch, useLocation, useRoute } from 'wouter';
import { AccountContext, useSession } from '../api/session.ts';
import { ACCOUNT_PAGES, OPERATOR_PAGES, type PageEntry } from './pages.ts';
import { ProfilePage } from './sign-in/profile-page.tsx';
import { UserMenu } from './user-menu.tsx';

/** The frame of every page behind the sign-in: navigation and user menu. */
export function Shell(): ReactNode {
  const { t } = useTranslation();
  const { role, account } = useSession();
  const [, match] = useRoute('/accounts/:accountId/*?');
  const accountId = match?.accountId ? Number(match.accountId) : account?.account_id;
  const home = role === 'operator' ? '/operator' : `/accounts/${account?.account_id}/review`;
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('nav.skip')}
      </a>
      <header className="bar">
        <Link href={home} className="brand">
          <img src="/icon.svg" alt="" width="28" height="28" />
          <span>{t('title')}</span>
        </Link>
        <nav aria-label={t('nav.label')}>
          {role === 'operator' &&
            OPERATOR_PAGES.map((page) => <NavLink key={page.path} base="/operator" page={page} />)}
          {accountId !== undefined &&
            ACCOUNT_PAGES.map((page) => <NavLink key={page.path} base={`/accounts/${accountId}`} page={page} />)}
        </nav>
        <UserMenu />
      </header>
      <main id="content" tabIndex={-1}>
        <Suspense fallback={<p className="hint">{t('state.loading')}</p>}>
          <Switch>
            <Route path="/profile" component={ProfilePage} />
            {role === 'operator' &&
              OPERATOR_PAGES.map(({ path, Page }) => <Route key={path} path={`/operator${path}`} component={Page} />)}
            {ACCOUNT_PAGES.map(({ path, Page }) => (
              <Route key={path} path={`/accounts/:accountId${path}/*?`}>
                {(params) => (
                  <AccountContext value={Number(params.accountId)}>
                    <Page key={params.accountId} />
                  </AccountContext>
                )}
              </Route>
            ))}
            <Route path="/">
              <Redirect to={home} replace />
            </Route>
            <Route>
              <p className="note">{t('problem.not_found')}</p>
            </Route>
          </Switch>
        </Suspense>
      </main>
    </div>
  );
}

function NavLink({ base, page }: { base: string; page: PageEntry }): ReactNode {
  const { t } = useTranslation();
  const [location] = useLocation();
  const href = base + page.path;
  const isCurrent = location === href || (page.path !== '' && location.startsWith(`${href}/`));
  return (
    <Link href={href} aria-current={isCurrent ? 'page' : undefined}>
      <page.Icon aria-hidden="true" size={18} />
      <span>{t(`nav.${page.name}`)}</span>
    </Link>
  );
}
