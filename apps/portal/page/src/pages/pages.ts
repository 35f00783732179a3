import {
  Activity,
  Building2,
  ChartColumn,
  History,
  Inbox,
  type LucideIcon,
  Plug,
  ReceiptText,
  ScrollText,
  UserRoundCog,
  Users,
} from 'lucide-react';
import type { Can, Permission } from '../api/session.ts';
import { type LazyPage, lazyPage } from './lazy-page.tsx';

/** A page of the portal; `name` is its locale key below `nav`. */
export interface PageEntry {
  path: string;
  name: string;
  Icon: LucideIcon;
  Page: LazyPage;
  /** Without it, the page is not offered. */
  permission?: Permission;
}

/** Pages below `/accounts/:accountId`. */
export const ACCOUNT_PAGES: PageEntry[] = [
  {
    path: '/review',
    name: 'review',
    Icon: Inbox,
    Page: lazyPage('review', async () => (await import('./review/review-page.tsx')).ReviewPage, ['review']),
  },
  {
    path: '/receipts',
    name: 'receipts',
    Icon: ReceiptText,
    Page: lazyPage('receipts', async () => (await import('./receipts/receipts-page.tsx')).ReceiptsPage, [
      'receipts',
      'review',
    ]),
  },
  {
    path: '/overview',
    name: 'overview',
    Icon: ChartColumn,
    Page: lazyPage('overview', async () => (await import('./overview/overview-page.tsx')).OverviewPage, [
      'overview',
      'review',
    ]),
  },
  {
    path: '/integrations',
    name: 'integrations',
    Icon: Plug,
    Page: lazyPage(
      'integrations',
      async () => (await import('./integrations/integrations-page.tsx')).IntegrationsPage,
      ['integrations', 'receipts'],
    ),
  },
  {
    path: '/log',
    name: 'log',
    Icon: History,
    Page: lazyPage('log', async () => (await import('./audit/log-pages.tsx')).LogPage, [
      'audit',
      'integrations',
      'review',
    ]),
  },
  {
    path: '/users',
    name: 'members',
    Icon: UserRoundCog,
    Page: lazyPage('members', async () => (await import('./members/members-page.tsx')).MembersPage, ['users']),
    permission: 'manage',
  },
];

/** The pages of an account that the user may open. */
export function permittedPages(can: Can): PageEntry[] {
  return ACCOUNT_PAGES.filter(({ permission }) => permission === undefined || can(permission));
}

/** Pages below `/operator`. */
export const OPERATOR_PAGES: PageEntry[] = [
  {
    path: '',
    name: 'accounts',
    Icon: Building2,
    Page: lazyPage('accounts', async () => (await import('./operator/operator-page.tsx')).OperatorPage, ['operator']),
  },
  {
    path: '/users',
    name: 'users',
    Icon: Users,
    Page: lazyPage('users', async () => (await import('./operator/users-page.tsx')).UsersPage, ['operator', 'users']),
  },
  {
    path: '/service',
    name: 'service',
    Icon: Activity,
    Page: lazyPage('service', async () => (await import('./operator/service-page.tsx')).ServicePage, [
      'operator',
      'receipts',
    ]),
  },
  {
    path: '/log',
    name: 'operatorLog',
    Icon: ScrollText,
    Page: lazyPage('operatorLog', async () => (await import('./audit/log-pages.tsx')).OperatorLogPage, [
      'audit',
      'integrations',
      'review',
    ]),
  },
];

/** The user's own page. */
export const ProfilePage = lazyPage('profile', async () => (await import('./sign-in/profile-page.tsx')).ProfilePage, [
  'signIn',
]);

/** Starts loading the page at a path, while the session is still being asked for. */
export function preloadPage(path: string): void {
  (path === '/profile' ? ProfilePage : findPage(path)?.Page)?.preload();
}

/** The locale key of the name of the page at a path, or null if there is none. */
export function pageNameAt(path: string): string | null {
  if (path === '/profile') return 'account.profile';
  const page = findPage(path);
  return page ? `nav.${page.name}` : null;
}

function findPage(path: string): PageEntry | undefined {
  const [, area, rest = ''] = /^\/(operator|accounts\/[^/]+)(\/[^/]+)?/.exec(path) ?? [];
  if (area === undefined) return undefined;
  return (area === 'operator' ? OPERATOR_PAGES : ACCOUNT_PAGES).find((page) => page.path === rest);
}
