import { useSearch } from 'wouter';
import { PRESETS, type SourcePreset } from '../api/sources.ts';

/** The parts of the developers' page, by the `tab` of its address; each is a locale key below `tab`. */
export const TABS = ['keys', 'webhook', 'events', 'try'] as const;
type DevelopersTab = (typeof TABS)[number];

/** The address of a part. */
export function tabHref(accountId: number, tab: DevelopersTab): string {
  return `/accounts/${accountId}/developers${tab === 'keys' ? '' : `?tab=${tab}`}`;
}

/** The part in the address; an unknown one is the first. */
export function useTab(): DevelopersTab {
  const wanted = new URLSearchParams(useSearch()).get('tab');
  return TABS.find((tab) => tab === wanted) ?? 'keys';
}

/** The address of the events, or of an endpoint. */
export function eventsHref(accountId: number, endpointId?: string): string {
  const base = tabHref(accountId, 'events');
  return endpointId === undefined ? base : `${base}&endpoint=${encodeURIComponent(endpointId)}`;
}

/** The endpoint in the address; null for the list. */
export function useOpenedEndpoint(): string | null {
  return new URLSearchParams(useSearch()).get('endpoint');
}

const SOURCE_VIEWS = ['list', 'new', 'connect', 'test', 'mapping'] as const;

/** What is shown of the sources: the list, a step to a new source (`new`, `connect`, `test`), or a source's mapping. */
export interface SourcesView {
  show: (typeof SOURCE_VIEWS)[number];
  /** Null for the list, and for `new` until the source is created. */
  sourceNumber: number | null;
  /** The receipt of the delivery with which a mapping is opened. */
  delivery: string | null;
}

/** The address of a view of the sources. */
export function sourcesHref(accountId: number, show: SourcesView['show'] = 'list', sourceNumber?: number): string {
  const base = `/accounts/${accountId}/shops`;
  return show === 'list' ? base : `${base}?show=${show}${sourceNumber === undefined ? '' : `&source=${sourceNumber}`}`;
}

/** The address of a source's mapping with the delivery of a receipt. */
export function mappingHref(accountId: number, sourceNumber: number, receiptId: string): string {
  return `${sourcesHref(accountId, 'mapping', sourceNumber)}&delivery=${receiptId}`;
}

/** The address of the first step to a new source, of this platform. */
export function newSourceHref(accountId: number, preset: SourcePreset): string {
  return `${sourcesHref(accountId, 'new')}&preset=${preset}`;
}

/** The platform in the address of the first step; undefined without one. */
export function useChosenPreset(): SourcePreset | undefined {
  const chosen = new URLSearchParams(useSearch()).get('preset');
  return PRESETS.find((preset) => preset === chosen);
}

/** The view in the address; the list if it has none. */
export function useSourcesView(): SourcesView {
  const params = new URLSearchParams(useSearch());
  const source = params.get('source');
  return {
    show: SOURCE_VIEWS.find((view) => view === params.get('show')) ?? 'list',
    sourceNumber: source === null ? null : Number(source),
    delivery: params.get('delivery'),
  };
}
