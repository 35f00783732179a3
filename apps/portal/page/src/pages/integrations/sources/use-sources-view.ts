import { useSearch } from 'wouter';
import { tabHref } from '../tabs.ts';

const VIEWS = ['list', 'new', 'connect', 'test', 'mapping'] as const;

/** What the tab shows: the list, a step to a new source (`new`, `connect`, `test`), or a source's mapping. */
export interface SourcesView {
  show: (typeof VIEWS)[number];
  /** Null for the list, and for `new` until the source is created. */
  sourceNumber: number | null;
}

/** The address of a view of the tab. */
export function sourcesHref(accountId: number, show: SourcesView['show'] = 'list', sourceNumber?: number): string {
  const base = tabHref(accountId, 'sources');
  return show === 'list' ? base : `${base}&show=${show}${sourceNumber === undefined ? '' : `&source=${sourceNumber}`}`;
}

/** The view in the address; the list if it has none. */
export function useSourcesView(): SourcesView {
  const params = new URLSearchParams(useSearch());
  const source = params.get('source');
  return {
    show: VIEWS.find((view) => view === params.get('show')) ?? 'list',
    sourceNumber: source === null ? null : Number(source),
  };
}
