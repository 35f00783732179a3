import { Activity, Building2, History, Inbox, type LucideIcon, ScrollText, Users } from 'lucide-react';
import { type ComponentType, lazy } from 'react';
import { ReviewPage } from './review/review-page.tsx';

/** A page of the portal; `name` is that of its text below `nav`. */
export interface PageEntry {
  path: string;
  name: string;
  Icon: LucideIcon;
  Page: ComponentType;
}

/** Of one account, below its address. The review list is there at once; the others are loaded when they are first opened. */
export const ACCOUNT_PAGES: PageEntry[] = [
  { path: '/review', name: 'review', Icon: Inbox, Page: ReviewPage },
  {
    path: '/log',
    name: 'log',
    Icon: History,
    Page: lazy(() => import('./audit/log-page.tsx').then((module) => ({ default: module.LogPage }))),
  },
];

/** Of the operator. */
export const OPERATOR_PAGES: PageEntry[] = [
  {
    path: '',
    name: 'accounts',
    Icon: Building2,
    Page: lazy(() => import('./operator/operator-page.tsx').then((module) => ({ default: module.OperatorPage }))),
  },
  {
    path: '/users',
    name: 'users',
    Icon: Users,
    Page: lazy(() => import('./operator/users-page.tsx').then((module) => ({ default: module.UsersPage }))),
  },
  {
    path: '/service',
    name: 'service',
    Icon: Activity,
    Page: lazy(() => import('./operator/service-page.tsx').then((module) => ({ default: module.ServicePage }))),
  },
  {
    path: '/log',
    name: 'operatorLog',
    Icon: ScrollText,
    Page: lazy(() => import('./audit/operator-log-page.tsx').then((module) => ({ default: module.OperatorLogPage }))),
  },
];
