import { useSearch } from 'wouter';

/** The parts of the page, by the `tab` of its address; each is a locale key below `tab`. */
export const TABS = ['keys', 'sources', 'events', 'webhook', 'try', 'resends', 'rejected'] as const;
export type IntegrationsTab = (typeof TABS)[number];

/** The address of a part. */
export function tabHref(accountId: number, tab: IntegrationsTab): string {
  return `/accounts/${accountId}/integrations${tab === 'keys' ? '' : `?tab=${tab}`}`;
}

/** The part in the address; an unknown one is the first. */
export function useTab(): IntegrationsTab {
  const wanted = new URLSearchParams(useSearch()).get('tab');
  return TABS.find((tab) => tab === wanted) ?? 'keys';
}
