import {
  type InfiniteData,
  keepPreviousData,
  type QueryKey,
  type UseInfiniteQueryResult,
  type UseQueryOptions,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { call, type Query } from './client.ts';

/** What the API has at a path. @param options.select the part of the reply that is wanted; without it, all. */
export function useGet<Reply, Data = Reply>(
  queryKey: QueryKey,
  path: string,
  options: Omit<UseQueryOptions<Reply, Error, Data>, 'queryKey' | 'queryFn'> & { query?: Query } = {},
): UseQueryResult<Data> {
  const { query = {}, ...others } = options;
  return useQuery({ queryKey, queryFn: ({ signal }) => call<Reply>('GET', path, { query, signal }), ...others });
}

/** A list that the API sends in pages; `next` of a page is the cursor of the following one, null at the end. */
export interface PagedList<Row> {
  query: Omit<UseInfiniteQueryResult, 'data'> & { data: unknown };
  rows: Row[];
}

/**
 * Loads a list page by page.
 *
 * @param options.query the parameters of the page at a cursor, which is null for the first one.
 * @param options.rowsOf the rows of a page.
 * @param options.keepsPrevious shows the rows of the previous key until those of a new one are there.
 */
export function usePagedList<Page extends { next: unknown }, Row>(options: {
  queryKey: QueryKey;
  path: string;
  query: (next: Page['next']) => Query;
  rowsOf: (page: Page) => Row[];
  refetchInterval?: number;
  keepsPrevious?: boolean;
}): PagedList<Row> & { pages: Page[] } {
  const query: UseInfiniteQueryResult<InfiniteData<Page>> = useInfiniteQuery({
    queryKey: options.queryKey,
    queryFn: ({ pageParam, signal }) => call<Page>('GET', options.path, { query: options.query(pageParam), signal }),
    initialPageParam: null as Page['next'],
    getNextPageParam: ({ next }) => next,
    refetchInterval: options.refetchInterval ?? false,
    ...(options.keepsPrevious && { placeholderData: keepPreviousData }),
  });
  const pages = query.data?.pages ?? [];
  return { query, pages, rows: pages.flatMap(options.rowsOf) };
}
