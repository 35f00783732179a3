import { useLocation, useSearch } from 'wouter';
import { useAccountId } from '../../../api/session.ts';
import { tabHref } from '../tabs.ts';

/** What the tab shows: the list, a new source, or a source's connection or mapping. */
export interface SourcesView {
  show: 'list' | 'new' | 'connect' | 'mapping';
  sourceNumber: number;
}

/** The address of a view of the tab. */
export function sourcesHref(accountId: number, show: SourcesView['show'] = 'list', sourceNumber?: number): string {
  const base = tabHref(accountId, 'sources');
  return show === 'list' ? base : `${base}&show=${show}${sourceNumber === undefined ? '' : `&source=${sourceNumber}`}`;
}

/** The view in the address, and a function that opens another one. */
export function useSourcesView() {
  const params = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const accountId = useAccountId();
  const wanted = params.get('show');
  const show: SourcesView['show'] = wanted === 'new' || wanted === 'connect' || wanted === 'mapping' ? wanted : 'list';
  return {
    view: { show, sourceNumber: Number(params.get('source')) },
    open: (next: SourcesView['show'], sourceNumber?: number) => navigate(sourcesHref(accountId, next, sourceNumber)),
  };
}
