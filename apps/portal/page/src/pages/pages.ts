import {
  Activity,
  Building2,
  ChartColumn,
  CircleX,
  CodeXml,
  History,
  Inbox,
  type LucideIcon,
  ReceiptText,
  Settings,
  Store,
  Upload,
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
  /** If it is not that of its section. */
  Icon?: LucideIcon | undefined;
  /** Without it, the page is neither offered nor shown. */
  permission: Permission | undefined;
}

const page = (
  path: string,
  name: string,
  load: () => Promise<{ default: ComponentType }>,
  texts: readonly string[],
  { permission, Icon }: Partial<PageEntry> = {},
): PageEntry => ({ path, name, Page: lazyPage(name, load, texts), Icon, permission });

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
    pages: [page('/orders', 'orders', () => import('./orders/review-page.tsx'), ['review'])],
  },
  {
    name: 'deliveries',
    Icon: ReceiptText,
    pages: [
      page('/receipts', 'receipts', () => import('./deliveries/receipts-page.tsx'), ['receipts', 'review']),
      page('/rejected', 'rejected', () => import('./deliveries/rejected-page.tsx'), ['integrations'], {
        Icon: CircleX,
      }),
    ],
  },
  {
    name: 'shops',
    Icon: Store,
    pages: [
      page('/shops', 'shops', () => import('./shops/shops-page.tsx'), [
        'sources',
        'review',
        'integrations',
        'receipts',
      ]),
      page('/upload', 'upload', () => import('./shops/upload/upload-page.tsx'), ['upload', 'review'], { Icon: Upload }),
    ],
  },
  {
    name: 'developers',
    Icon: CodeXml,
    pages: [
      page('/developers', 'developers', () => import('./developers/developers-page.tsx'), ['integrations', 'receipts']),
    ],
  },
  {
    name: 'settings',
    Icon: Settings,
    pages: [page('/settings', 'settings', () => import('./settings/settings-page.tsx'), ['integrations'])],
  },
  {
    name: 'people',
    Icon: Users,
    pages: [page('/users', 'people', () => import('./people/members-page.tsx'), ['users'], { permission: 'manage' })],
  },
  {
    name: 'activity',
    Icon: ChartColumn,
    pages: [
      page('/overview', 'overview', () => import('./activity/overview-page.tsx'), ['overview', 'review']),
      page('/log', 'log', () => import('./activity/log-page.tsx'), ['audit', 'integrations', 'review'], {
        Icon: History,
      }),
    ],
  },
];

/** Sections below `/operator`. */
export const OPERATOR_SECTIONS: readonly Section[] = [
  {
    name: 'accounts',
    Icon: Building2,
    pages: [
      page('', 'accounts', () => import('./operator/operator-page.tsx'), ['operator']),
      page('/users', 'users', () => import('./operator/users-page.tsx'), ['operator', 'users'], { Icon: Users }),
    ],
  },
  {
    name: 'service',
    Icon: Activity,
    pages: [
      page('/service', 'service', () => import('./operator/service-page.tsx'), ['operator', 'receipts']),
      page('/log', 'operatorLog', () => import('./operator/log-page.tsx'), ['audit', 'integrations', 'review'], {
        Icon: History,
      }),
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
export const ProfilePage = lazyPage('profile', () => import('./sign-in/profile-page.tsx'), ['signIn']);

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
