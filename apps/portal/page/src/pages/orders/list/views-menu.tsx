import type { ReviewView as SavedView } from '@orders/portal/review/views-routes.ts';
import { useQueryClient } from '@tanstack/react-query';
import { Bookmark, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../../api/client.ts';
import { useGet } from '../../../api/queries.ts';
import { useAccountId } from '../../../api/session.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { FieldError } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { ProblemNote, useProblemText } from '../../../components/loaded.tsx';
import { Popover } from '../../../components/popover.tsx';
import { useAction } from '../../../components/use-action.ts';
import { type Filters, readFilters, writeFilters } from './filters.ts';
import type { ChangeFilters } from './search-box.tsx';

interface SavedViews {
  views: SavedView[];
}

interface ViewsProps {
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

function Views({ filters, onChange, onClose }: ViewsProps & { onClose: () => void }): ReactNode {
  const path = `/accounts/${useAccountId()}/views`;
  const { t } = useTranslation('review');
  const queryClient = useQueryClient();
  const queryKey = ['views', path];
  const views = useGet(queryKey, path, { select: (reply: SavedViews) => reply.views });
  const change = (edit: (views: SavedView[]) => SavedView[]) =>
    queryClient.setQueryData<SavedViews>(queryKey, (before) => ({ views: edit(before?.views ?? []) }));
  const remove = useAction({
    mutationFn: (viewId: number) => call('DELETE', `${path}/${viewId}`),
    onSuccess: (_, viewId) => change((all) => all.filter(({ view_id }) => view_id !== viewId)),
  });
  if (views.isError) return <ProblemNote error={views.error} retry={() => void views.refetch()} />;
  const query = writeFilters(filters).slice(1);
  return (
    <div className="stack">
      {views.data?.length === 0 && <p className="hint">{t('view.none')}</p>}
      {views.data && views.data.length > 0 && (
        <ul className="plain menu-list">
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
              <IconButton
                label={t('view.delete', { name: view.name })}
                Icon={Trash2}
                size={16}
                onClick={() => remove.mutate(view.view_id)}
              />
            </li>
          ))}
        </ul>
      )}
      {remove.isError && <ProblemNote error={remove.error} />}
      <SaveView path={path} query={query} onSaved={(view) => change((all) => [...all, view])} />
    </div>
  );
}

function SaveView(props: { path: string; query: string; onSaved: (view: SavedView) => void }): ReactNode {
  const { path, query, onSaved } = props;
  const { t } = useTranslation('review');
  const textOf = useProblemText();
  const [name, setName] = useState('');
  const save = useAction({
    mutationFn: () => call<SavedView>('POST', path, { body: { name: name.trim(), query } }),
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
    <Form className="stack-tight" onSubmit={() => name.trim() !== '' && save.mutate()}>
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
        <Button type="submit" disabled={save.isPending}>
          {t('common:action.save')}
        </Button>
      </div>
      <FieldError text={problem} />
    </Form>
  );
}
