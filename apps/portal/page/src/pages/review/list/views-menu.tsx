import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Bookmark, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import { deleteView, readViews, type SavedView, saveView } from '../../../api/review-list.ts';
import { FieldError } from '../../../components/field.tsx';
import { Popover } from '../../../components/popover.tsx';
import { ProblemNote, useProblemText } from '../../../components/problem-note.tsx';
import { useAction } from '../../../components/use-action.ts';
import { type Filters, readFilters, writeFilters } from './filters.ts';
import type { ChangeFilters } from './search-box.tsx';

interface ViewsProps {
  accountId: number;
  filters: Filters;
  onChange: ChangeFilters;
}

/** The reviewer's saved filters. */
export function ViewsMenu(props: ViewsProps): ReactNode {
  const { t } = useTranslation('review');
  const label = (
    <>
      <Bookmark aria-hidden="true" size={16} />
      <span className="views-name">{t('view.title')}</span>
    </>
  );
  return (
    <Popover label={label} title={t('view.title')} width={300}>
      {(close) => <Views {...props} onClose={close} />}
    </Popover>
  );
}

function Views({ accountId, filters, onChange, onClose }: ViewsProps & { onClose: () => void }): ReactNode {
  const { t } = useTranslation('review');
  const queryClient = useQueryClient();
  const queryKey = ['views', accountId];
  const views = useQuery({ queryKey, queryFn: ({ signal }) => readViews(accountId, signal) });
  const change = (edit: (views: SavedView[]) => SavedView[]) =>
    queryClient.setQueryData<SavedView[]>(queryKey, (before) => edit(before ?? []));
  const remove = useAction({
    mutationFn: (viewId: number) => deleteView(accountId, viewId),
    onSuccess: (_, viewId) => change((all) => all.filter(({ view_id }) => view_id !== viewId)),
  });
  if (views.isError) return <ProblemNote error={views.error} retry={() => void views.refetch()} />;
  const query = writeFilters(filters).slice(1);
  return (
    <div className="stack">
      {views.data?.length === 0 && <p className="hint">{t('view.none')}</p>}
      {views.data && views.data.length > 0 && (
        <ul className="menu-list">
          {views.data.map((view) => (
            <li key={view.view_id}>
              <button
                type="button"
                className="menu-item"
                dir="auto"
                aria-current={view.query === query ? 'true' : undefined}
                onClick={() => {
                  onClose();
                  onChange(readFilters(view.query));
                }}
              >
                {view.name}
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label={t('view.delete', { name: view.name })}
                title={t('view.delete', { name: view.name })}
                onClick={() => remove.mutate(view.view_id)}
              >
                <Trash2 aria-hidden="true" size={16} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {remove.isError && <ProblemNote error={remove.error} />}
      <SaveView accountId={accountId} query={query} onSaved={(view) => change((all) => [...all, view])} />
    </div>
  );
}

function SaveView({
  accountId,
  query,
  onSaved,
}: {
  accountId: number;
  query: string;
  onSaved: (view: SavedView) => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const textOf = useProblemText();
  const [name, setName] = useState('');
  const save = useAction({
    mutationFn: () => saveView(accountId, { name: name.trim(), query }),
    onSuccess(view) {
      setName('');
      onSaved(view);
    },
  });
  const problemText = (error: Error) => {
    if (isProblem(error, 'conflicting_state')) return t('view.exists');
    const isFull = isProblem(error) && error.errors.some(({ code }) => code === 'too_many_views');
    return isFull ? t('view.full') : textOf(error);
  };
  const problem = save.isError && problemText(save.error);
  return (
    <form
      className="stack-tight"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') save.mutate();
      }}
    >
      <label className="hint" htmlFor="view-name">
        {t('view.save')}
      </label>
      <div className="row view-form">
        <input
          id="view-name"
          dir="auto"
          required
          maxLength={60}
          placeholder={t('view.name')}
          aria-invalid={problem ? true : undefined}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <button type="submit" className="button" disabled={save.isPending}>
          {t('common:action.save')}
        </button>
      </div>
      <FieldError text={problem} />
    </form>
  );
}
