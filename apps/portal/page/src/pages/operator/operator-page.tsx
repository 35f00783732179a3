import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import type { AccountPage, AccountRow } from '../../api/operator.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Field } from '../../components/field.tsx';
import { HelpLink } from '../../components/help-link.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNote, useProblemText } from '../../components/problem-note.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useDebounced } from '../../components/use-debounced.ts';
import { AccountTable } from './account-table.tsx';
import './operator.css';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useAction } from '../../components/use-action.ts';

/** All accounts with their counts and settings. */
export function OperatorPage(): ReactNode {
  const { t } = useTranslation('operator');
  const [text, setText] = useState('');
  const searched = useDebounced(text.trim());
  const accounts = useInfiniteQuery({
    queryKey: ['operator', 'accounts', searched],
    queryFn: ({ pageParam, signal }) =>
      call<AccountPage>('GET', '/operator/accounts', { query: { q: searched, after: pageParam }, signal }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
  const pages = accounts.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.accounts);
  return (
    <div className="stack">
      <PageHeader title={t('accounts.title')} about={t('accounts.about')}>
        <HelpLink page="accounts" />
        <NewAccount />
      </PageHeader>
      <div className="narrow-search">
        <Field
          label={t('accounts.search')}
          type="search"
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {accounts.isError && <ProblemNote error={accounts.error} retry={() => void accounts.refetch()} />}
      {accounts.isPending && <Skeleton shape="rows" count={8} />}
      {accounts.isSuccess && rows.length === 0 && (
        <EmptyState
          title={t(searched ? 'accounts.noneFound' : 'accounts.none')}
          text={t(searched ? 'accounts.noneFoundAbout' : 'accounts.noneAbout')}
        />
      )}
      {rows.length > 0 && <AccountTable accounts={rows} countedTo={pages[0]?.counted_to ?? 0} />}
      {accounts.hasNextPage && (
        <button type="button" className="button more-button" onClick={() => void accounts.fetchNextPage()}>
          {t('common:action.more')}
        </button>
      )}
    </div>
  );
}

function NewAccount(): ReactNode {
  const { t } = useTranslation('operator');
  const textOf = useProblemText();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const create = useAction({
    mutationFn: () => call<AccountRow>('POST', '/operator/accounts', { body: { name } }),
    onSuccess: async ({ account_id }) => {
      setOpen(false);
      setName('');
      notices.show({ text: t('accounts.created', { id: account_id }) });
      await queryClient.invalidateQueries({ queryKey: ['operator', 'accounts'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const errorText = (error: unknown) => (isProblem(error, 'invalid_request') ? t('accounts.nameRule') : textOf(error));
  return (
    <>
      <button type="button" className="button button-main" onClick={() => setOpen(true)}>
        {t('accounts.create')}
      </button>
      {isOpen && (
        <Dialog title={t('accounts.create')} onClose={() => setOpen(false)}>
          <form className="stack" onSubmit={submit}>
            <Field
              label={t('accounts.name')}
              dir="auto"
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
              hint={t('accounts.nameHint')}
              error={create.isError ? errorText(create.error) : null}
            />
            <FormButtons submit={t('accounts.create')} isBusy={create.isPending} onClose={() => setOpen(false)} />
          </form>
        </Dialog>
      )}
    </>
  );
}
