import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../api/client.ts';
import type { PagedList } from '../api/queries.ts';
import { Button } from './button.tsx';

/** What a query has loaded, with a note about a problem above it; in its place a skeleton while it is loaded for the first time. */
export function Loaded<Data>(props: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isError' | 'isPending' | 'refetch'>;
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}): ReactNode {
  const { query, skeleton, children } = props;
  return (
    <>
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && skeleton}
      {query.data !== undefined && children(query.data)}
    </>
  );
}

/** One of a list, or why it is not there: a problem, loading, or `gone`. One that was just created may not be in the list yet. */
export function LoadedOne<One>(props: {
  query: Pick<UseQueryResult<One[]>, 'data' | 'error' | 'isError' | 'isFetching' | 'refetch'>;
  is: (one: One) => boolean;
  gone: string;
  children: (one: One) => ReactNode;
}): ReactNode {
  const { query, gone, children } = props;
  const one = query.data?.find(props.is);
  if (one !== undefined) return children(one);
  if (query.isError) return <ProblemNote error={query.error} retry={() => void query.refetch()} />;
  return query.isFetching ? <Skeleton shape="blocks" count={2} /> : <p className="note">{gone}</p>;
}

/** The rows of a list, or why there are none, with a button for the next page. */
export function Paged<Row>(props: {
  list: PagedList<Row>;
  /** The rows of its skeleton. */
  skeleton?: number;
  empty?: ReactNode;
  children: (rows: Row[]) => ReactNode;
}): ReactNode {
  const { list, skeleton = 3, empty, children } = props;
  return (
    <>
      <Loaded query={list.query} skeleton={<Skeleton shape="rows" count={skeleton} />}>
        {() => (list.rows.length > 0 ? children(list.rows) : empty)}
      </Loaded>
      <MoreButton list={list} />
    </>
  );
}

function MoreButton({ list: { query } }: { list: PagedList<unknown> }): ReactNode {
  const { t } = useTranslation();
  if (!query.hasNextPage) return null;
  return (
    <Button className="more-button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {t('action.more')}
    </Button>
  );
}

/** Translates an error; falls back to the API's own detail. */
export function useProblemText(): (error: unknown) => string {
  const { t, i18n } = useTranslation();
  return (error) => {
    if (!isProblem(error)) return t('problem.internal_error', { id: '?' });
    const field = error.errors.find(({ code }) => i18n.exists(`fieldProblem.${code}`));
    if (field) return t(`fieldProblem.${field.code}`);
    if (i18n.exists(`problem.${error.code}`)) return t(`problem.${error.code}`, { id: error.requestId });
    return t('problem.other', { detail: error.message });
  };
}

/** Whether the same request would fail again. */
export function isFinal(error: unknown): boolean {
  return isProblem(error) && [400, 403, 404, 422].includes(error.status);
}

/** What went wrong, in one sentence. */
export function BadNote({ text }: { text: string }): ReactNode {
  return (
    <p className="note note-bad" role="alert">
      {text}
    </p>
  );
}

/** An error in place of the result, with a retry button if a retry could help. */
export function ProblemNote({ error, retry }: { error: unknown; retry?: () => void }): ReactNode {
  const { t } = useTranslation();
  const textOf = useProblemText();
  return (
    <div className="note note-bad" role="alert">
      <p>{textOf(error)}</p>
      {retry && !isFinal(error) && <Button onClick={retry}>{t('action.retry')}</Button>}
    </div>
  );
}

/**
 * Grey shapes with the size of the content to come, so that the layout does not move when it arrives. `shape` follows the content: lines of
 * text, rows of a table or list, or blocks such as cards and charts.
 */
export function Skeleton(props: { shape?: 'lines' | 'rows' | 'blocks'; count?: number }): ReactNode {
  const { shape = 'lines', count = 3 } = props;
  const { t } = useTranslation();
  return (
    <div className={`skeleton stack-tight skeleton-${shape}`} role="status">
      <span className="visually-hidden">{t('state.loading')}</span>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the shapes are all the same.
        <span key={index} className="skeleton-shape" aria-hidden="true" />
      ))}
    </div>
  );
}

/** Stands in for a whole page: a heading and rows. */
export function PageSkeleton(): ReactNode {
  return (
    <div className="stack">
      <span className="skeleton-shape skeleton-heading" aria-hidden="true" />
      <Skeleton shape="rows" count={8} />
    </div>
  );
}

/** Says why there is nothing and what to do next. `action` is a link or a button. */
export function EmptyState(props: {
  title: string;
  text?: string | undefined;
  children?: ReactNode;
  action?: ReactNode;
  /** Decorative. */
  icon?: ReactNode;
}): ReactNode {
  const { title, text, children, action, icon } = props;
  return (
    <div className="stack-tight empty-state" role="status">
      {icon && (
        <span className="empty-icon" aria-hidden="true">
          {icon}
        </span>
      )}
      <p className="empty-title">{title}</p>
      {text && <p className="hint">{text}</p>}
      {children}
      {action}
    </div>
  );
}
