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
import type { ComponentType } from 'react';
import type { Can, Permission } from '../api/session.ts';
import { type LazyPage, lazyPage } from './lazy-page.tsx';

/** A page of the portal; `name` is its locale key below `nav`. */
export interface PageEntry {
  path: string;
  name: string;
  Page: LazyPage;
  /** Without it, the page is neither offered nor shown. */
  permission: Permission | undefined;
}

const page = (
  path: string,
  name: string,
  load: () => Promise<ComponentType>,
  texts: readonly string[],
  permission?: Permission,
): PageEntry => ({ path, name, Page: lazyPage(name, load, texts), permission });

/** An entry of the navigation: its first page, which has links to the others. `name` is its locale key below `nav`. */
export interface Section {
  name: string;
  Icon: LucideIcon;
  pages: readonly [PageEntry, ...PageEntry[]];
  /** Whether it is offered to those who only confirm and reject: they need no other page, but can open them. */
  isForReviewers?: true;
}

/** Sections below `/accounts/:accountId`. */
export const ACCOUNT_SECTIONS: readonly Section[] = [
  {
    name: 'orders',
    Icon: Inbox,
    isForReviewers: true,
    pages: [page('/orders', 'orders', async () => (await import('./orders/review-page.tsx')).ReviewPage, ['review'])],
  },
  {
    name: 'deliveries',
    Icon: ReceiptText,
    pages: [
      page('/receipts', 'receipts', async () => (await import('./deliveries/receipts-page.tsx')).ReceiptsPage, [
        'receipts',
        'review',
      ]),
      page('/rejected', 'rejected', async () => (await import('./deliveries/rejected-page.tsx')).RejectedPage, [
        'integrations',
      ]),
    ],
  },
  {
    name: 'shops',
    Icon: Store,
    pages: [
      page('/shops', 'shops', async () => (await import('./shops/shops-page.tsx')).ShopsPage, [
        'sources',
        'review',
        'integrations',
        'receipts',
      ]),
      page('/upload', 'upload', async () => (await import('./shops/upload/upload-page.tsx')).UploadPage, [
        'upload',
        'review',
      ]),
    ],
  },
  {
    name: 'developers',
    Icon: CodeXml,
    pages: [
      page('/developers', 'developers', async () => (await import('./developers/developers-page.tsx')).DevelopersPage, [
        'integrations',
        'receipts',
      ]),
    ],
  },
  {
    name: 'settings',
    Icon: Settings,
    pages: [
      page('/settings', 'settings', async () => (await import('./settings/settings-page.tsx')).SettingsPage, [
        'integrations',
      ]),
    ],
  },
  {
    name: 'people',
    Icon: Users,
    pages: [
      page(
        '/users',
        'people',
        async () => (await import('./people/members-page.tsx')).MembersPage,
        ['users'],
        'manage',
      ),
    ],
  },
  {
    name: 'activity',
    Icon: ChartColumn,
    pages: [
      page('/overview', 'overview', async () => (await import('./activity/overview-page.tsx')).OverviewPage, [
        'overview',
        'review',
      ]),
      page('/log', 'log', async () => (await import('./activity/log-pages.tsx')).LogPage, [
        'audit',
        'integrations',
        'review',
      ]),
    ],
  },
];

/** Sections below `/operator`. */
export const OPERATOR_SECTIONS: readonly Section[] = [
  {
    name: 'accounts',
    Icon: Building2,
    pages: [
      page('', 'accounts', async () => (await import('./operator/operator-page.tsx')).OperatorPage, ['operator']),
      page('/users', 'users', async () => (await import('./operator/users-page.tsx')).UsersPage, ['operator', 'users']),
    ],
  },
  {
    name: 'service',
    Icon: Activity,
    pages: [
      page('/service', 'service', async () => (await import('./operator/service-page.tsx')).ServicePage, [
        'operator',
        'receipts',
      ]),
      page('/log', 'operatorLog', async () => (await import('./activity/log-pages.tsx')).OperatorLogPage, [
        'audit',
        'integrations',
        'review',
      ]),
    ],
  },
];

/** The sections of an account that the user is offered. */
export function offeredSections(can: Can): readonly Section[] {
  const onlyReviews = can('review') && !can('develop', 'manage');
  return ACCOUNT_SECTIONS.filter(
    ({ isForReviewers, pages: [{ permission }] }) =>
      (isForReviewers || !onlyReviews) && (permission === undefined || can(permission)),
  );
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

/** The path of the open page, in an account where the user may open it; otherwise of the first page. */
export function samePage(location: string, mayOpen: (permission: Permission) => boolean): string {
  const [, path] = /^\/accounts\/\d+(\/[^/]+)/.exec(location) ?? [];
  const pages = offeredSections(mayOpen).flatMap((section) => section.pages);
  return pages.find((page) => page.path === path)?.path ?? '/orders';
}
