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
  Users,
} from 'lucide-react';
import { type ComponentType, lazy } from 'react';
import { ReviewPage } from './review/review-page.tsx';

/** A page of the portal; `name` is its locale key below `nav`. */
export interface PageEntry {
  path: string;
  name: string;
  Icon: LucideIcon;
  Page: ComponentType;
}

/** Pages below `/accounts/:accountId`. The review page is in the main bundle; the others are loaded when first opened. */
export const ACCOUNT_PAGES: PageEntry[] = [
  { path: '/review', name: 'review', Icon: Inbox, Page: ReviewPage },
  {
    path: '/receipts',
    name: 'receipts',
    Icon: ReceiptText,
    Page: lazy(() => import('./receipts/receipts-page.tsx').then((module) => ({ default: module.ReceiptsPage }))),
  },
  {
    path: '/overview',
    name: 'overview',
    Icon: ChartColumn,
    Page: lazy(() => import('./overview/overview-page.tsx').then((module) => ({ default: module.OverviewPage }))),
  },
  {
    path: '/integrations',
    name: 'integrations',
    Icon: Plug,
    Page: lazy(() =>
      import('./integrations/integrations-page.tsx').then((module) => ({ default: module.IntegrationsPage })),
    ),
  },
  {
    path: '/log',
    name: 'log',
    Icon: History,
    Page: lazy(() => import('./audit/log-page.tsx').then((module) => ({ default: module.LogPage }))),
  },
];

/** Pages below `/operator`. */
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
