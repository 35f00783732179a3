import { type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Redirect, Route, Switch, useLocation, useRoute } from 'wouter';
import { useAccountName } from '../api/account.ts';
import { AccountContext, useSession } from '../api/session.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageBoundary } from '../components/page-boundary.tsx';
import { PageSkeleton } from '../components/skeleton.tsx';
import { usePageTitle } from '../components/title.ts';
import { forgetFailedPages } from './lazy-page.tsx';
import { ACCOUNT_PAGES, OPERATOR_PAGES, ProfilePage, pageNameAt } from './pages.ts';
import { usePalette } from './palette/use-palette.tsx';
import { Sidebar } from './sidebar.tsx';

/** The frame of every page behind the sign-in. */
export function Shell(): ReactNode {
  const { t } = useTranslation();
  const { role, account } = useSession();
  const [location] = useLocation();
  const [, match] = useRoute('/accounts/:accountId/*?');
  const openAccountId = match?.accountId ? Number(match.accountId) : undefined;
  const accountId = openAccountId ?? account?.account_id;
  const accountName = useAccountName(accountId);
  const home = role === 'operator' ? '/operator' : `/accounts/${account?.account_id}/review`;
  const { palette, open } = usePalette(accountId);
  const name = pageNameAt(location);
  usePageTitle(name ? t(name) : '', openAccountId === undefined ? undefined : accountName, t('title'));
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('nav.skip')}
      </a>
      <Sidebar accountId={accountId} accountName={accountName} home={home} onPalette={open} />
      <main id="content" tabIndex={-1}>
        <PageBoundary resetKeys={[location]} onReset={forgetFailedPages}>
          <Suspense fallback={<PageSkeleton />}>
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
                <EmptyState title={t('problem.not_found')} />
              </Route>
            </Switch>
          </Suspense>
        </PageBoundary>
      </main>
      {palette}
    </div>
  );
}
