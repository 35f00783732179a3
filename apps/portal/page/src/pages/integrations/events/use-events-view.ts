import { useSearch } from 'wouter';
import { tabHref } from '../tabs.ts';

/** The address of the tab, or of an endpoint in it. */
export function eventsHref(accountId: number, endpointId?: string): string {
  const base = tabHref(accountId, 'events');
  return endpointId === undefined ? base : `${base}&endpoint=${encodeURIComponent(endpointId)}`;
}

/** The endpoint in the address; null for the list. */
export function useOpenedEndpoint(): string | null {
  return new URLSearchParams(useSearch()).get('endpoint');
}
