import {
  Activity,
  Building2,
  ChartColumn,
  CodeXml,
  Inbox,
  type LucideIcon,
  ReceiptText,
  Settings,
  Store,
  Users,
} from 'lucide-react';
import type { Can } from '../api/session.ts';
import { type LazyPage, lazyPage } from './lazy-page.tsx';

/** A page of the portal; `name` is its locale key below `nav`. */
export interface PageEntry {
  path: string;
  name: string;
  Page: LazyPage;
}

/** An entry of the navigation: its first page, which has links to the others. `name` is its locale key below `nav`. */
export interface Section {
  name: string;
  Icon: LucideIcon;
  pages: readonly [PageEntry, ...PageEntry[]];
  /** Who is offered it; everybody by default. */
  isFor?: (can: Can) => boolean;
}

/** Who only confirms and rejects needs no other page, but can open them. */
const isNoReviewer = (can: Can) => !can('review') || can('develop', 'manage');

/** Sections below `/accounts/:accountId`. */
export const ACCOUNT_SECTIONS: readonly Section[] = [
  {
    name: 'orders',
    Icon: Inbox,
    pages: [
      {
        path: '/orders',
        name: 'orders',
        Page: lazyPage('orders', async () => (await import('./orders/review-page.tsx')).ReviewPage, ['review']),
      },
    ],
  },
  {
    name: 'deliveries',
    Icon: ReceiptText,
    isFor: isNoReviewer,
    pages: [
      {
        path: '/receipts',
        name: 'receipts',
        Page: lazyPage('receipts', async () => (await import('./deliveries/receipts-page.tsx')).ReceiptsPage, [
          'receipts',
          'review',
        ]),
      },
      {
        path: '/rejected',
        name: 'rejected',
        Page: lazyPage('rejected', async () => (await import('./deliveries/rejected-page.tsx')).RejectedPage, [
          'integrations',
        ]),
      },
    ],
  },
  {
    name: 'shops',
    Icon: Store,
    isFor: isNoReviewer,
    pages: [
      {
        path: '/shops',
        name: 'shops',
        Page: lazyPage('shops', async () => (await import('./shops/shops-page.tsx')).ShopsPage, [
          'sources',
          'review',
          'integrations',
          'receipts',
        ]),
      },
    ],
  },
  {
    name: 'developers',
    Icon: CodeXml,
    isFor: isNoReviewer,
    pages: [
      {
        path: '/developers',
        name: 'developers',
        Page: lazyPage('developers', async () => (await import('./developers/developers-page.tsx')).DevelopersPage, [
          'integrations',
          'receipts',
        ]),
      },
    ],
  },
  {
    name: 'settings',
    Icon: Settings,
    isFor: isNoReviewer,
    pages: [
      {
        path: '/settings',
        name: 'settings',
        Page: lazyPage('settings', async () => (await import('./settings/settings-page.tsx')).SettingsPage, [
          'integrations',
        ]),
      },
    ],
  },
  {
    name: 'people',
    Icon: Users,
    isFor: (can) => can('manage'),
    pages: [
      {
        path: '/users',
        name: 'people',
        Page: lazyPage('people', async () => (await import('./people/members-page.tsx')).MembersPage, ['users']),
      },
    ],
  },
  {
    name: 'activity',
    Icon: ChartColumn,
    isFor: isNoReviewer,
    pages: [
      {
        path: '/overview',
        name: 'overview',
        Page: lazyPage('overview', async () => (await import('./activity/overview-page.tsx')).OverviewPage, [
          'overview',
          'review',
        ]),
      },
      {
        path: '/log',
        name: 'log',
        Page: lazyPage('log', async () => (await import('./activity/log-pages.tsx')).LogPage, [
          'audit',
          'integrations',
          'review',
        ]),
      },
    ],
  },
];

/** Sections below `/operator`. */
export const OPERATOR_SECTIONS: readonly Section[] = [
  {
    name: 'accounts',
    Icon: Building2,
    pages: [
      {
        path: '',
        name: 'accounts',
        Page: lazyPage('accounts', async () => (await import('./operator/operator-page.tsx')).OperatorPage, [
          'operator',
        ]),
      },
      {
        path: '/users',
        name: 'users',
        Page: lazyPage('users', async () => (await import('./operator/users-page.tsx')).UsersPage, [
          'operator',
          'users',
        ]),
      },
    ],
  },
  {
    name: 'service',
    Icon: Activity,
    pages: [
      {
        path: '/service',
        name: 'service',
        Page: lazyPage('service', async () => (await import('./operator/service-page.tsx')).ServicePage, [
          'operator',
          'receipts',
        ]),
      },
      {
        path: '/log',
        name: 'operatorLog',
        Page: lazyPage('operatorLog', async () => (await import('./activity/log-pages.tsx')).OperatorLogPage, [
          'audit',
          'integrations',
          'review',
        ]),
      },
    ],
  },
];

/** The sections of an account that the user is offered. */
export function offeredSections(can: Can): readonly Section[] {
  return ACCOUNT_SECTIONS.filter(({ isFor }) => isFor?.(can) ?? true);
}

/** The user's own page. */
export const ProfilePage = lazyPage('profile', async () => (await import('./sign-in/profile-page.tsx')).ProfilePage, [
  'signIn',
]);

/** Starts loading the page at a path, while the session is still being asked for. */
export function preloadPage(path: string): void {
  (path === '/profile' ? ProfilePage : findPage(path)?.page.Page)?.preload();
}

/** The locale key of the name of the page at a path, or null if there is none. */
export function pageNameAt(path: string): string | null {
  if (path === '/profile') return 'account.profile';
  const found = findPage(path);
  return found ? `nav.${found.page.name}` : null;
}

/** The page at a path, its section, and where the pages of that begin. */
export function findPage(path: string): { page: PageEntry; section: Section; base: string } | undefined {
  const [base, area, rest = ''] = /^\/(operator|accounts\/[^/]+)(\/[^/]+)?/.exec(path) ?? [];
  if (base === undefined) return undefined;
  for (const section of area === 'operator' ? OPERATOR_SECTIONS : ACCOUNT_SECTIONS) {
    const page = section.pages.find((one) => one.path === rest);
    if (page) return { page, section, base: `/${area}` };
  }
  return undefined;
}
