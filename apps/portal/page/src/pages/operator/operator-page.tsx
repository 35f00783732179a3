import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { call, isProblem } from '../../api/client.ts';
import type { AccountPage, AccountRow } from '../../api/operator.ts';
import { usePagedList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { NameField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { EmptyState, Paged, useProblemText } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { formatCount } from '../../components/numbers.ts';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { useAction } from '../../components/use-action.ts';
import { useDebounced } from '../../components/use-debounced.ts';
import { ManageAccount } from './manage-account.tsx';

/** All accounts with their counts and settings. */
export default function OperatorPage(): ReactNode {
  const { t } = useTranslation('operator');
  const [text, setText] = useState('');
  const searched = useDebounced(text.trim());
  const list = usePagedList({
    queryKey: ['operator', 'accounts', searched],
    path: '/operator/accounts',
    query: (after) => ({ q: searched, after }),
    rowsOf: ({ accounts }: AccountPage) => accounts,
    keepsPrevious: true,
    refetchInterval: 15_000,
  });
  return (
    <div className="stack">
      <PageHeader title={t('accounts.title')} about={t('accounts.about')}>
        <HelpLink page="accounts" />
        <NewAccount />
      </PageHeader>
      <SearchField
        label={t('accounts.search')}
        hint={t('accounts.search')}
        maxLength={200}
        value={text}
        onChange={setText}
      />
      <Paged
        list={list}
        skeleton={8}
        empty={
          <EmptyState
            title={t(searched ? 'accounts.noneFound' : 'accounts.none')}
            text={t(searched ? 'accounts.noneFoundAbout' : 'accounts.noneAbout')}
          />
        }
      >
        {(accounts) => <AccountTable accounts={accounts} countedTo={list.pages[0]?.counted_to ?? 0} />}
      </Paged>
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
  const { error } = create;
  const title = t('accounts.create');
  return (
    <>
      <Button kind="main" onClick={() => setOpen(true)}>
        {title}
      </Button>
      {isOpen && (
        <FormDialog title={title} submit={title} action={create} isExplained onClose={() => setOpen(false)}>
          <NameField
            label={t('accounts.name')}
            hint={t('accounts.nameHint')}
            maxLength={200}
            value={name}
            onChange={setName}
            error={error && (isProblem(error, 'invalid_request') ? t('accounts.nameRule') : textOf(error))}
          />
        </FormDialog>
      )}
    </>
  );
}

/** @param props.countedTo counting stops above this. */
function AccountTable({ accounts, countedTo }: { accounts: AccountRow[]; countedTo: number }): ReactNode {
  const { t } = useTranslation('operator');
  const [managedId, setManagedId] = useState<number | null>(null);
  const managed = accounts.find((account) => account.account_id === managedId);
  const count = (number: number) => (number > countedTo ? `${formatCount(countedTo)}+` : formatCount(number));
  return (
    <div className="card table-card">
      <DataTable
        rows={accounts}
        keyOf={({ account_id }) => account_id}
        columns={[
          {
            header: t('accounts.account'),
            cell: ({ account_id, name }) => (
              <>
                <Link href={`/accounts/${account_id}/orders`} dir="auto">
                  {name}
                </Link>{' '}
                <bdi dir="ltr" className="hint">
                  #{account_id}
                </bdi>
              </>
            ),
          },
          { header: t('accounts.state'), cell: (account) => <AccountBadges account={account} /> },
          { header: t('accounts.waiting'), isNumber: true, cell: ({ orders_waiting }) => count(orders_waiting) },
          {
            header: t('accounts.dead'),
            isNumber: true,
            cell: ({ account_id, name, dead_receipts }) =>
              dead_receipts > 0 ? (
                <Link href={`/accounts/${account_id}/receipts?state=dead`} className="badge badge-bad">
                  {count(dead_receipts)}
                  <span className="visually-hidden"> {t('accounts.deadOf', { name })}</span>
                </Link>
              ) : (
                count(0)
              ),
          },
          {
            header: t('accounts.limit'),
            cell: ({ rate_limit: limit }) =>
              limit === 'default' || limit === 'none' ? t(`limit.${limit}`) : <bdi dir="ltr">{limit}</bdi>,
          },
          {
            header: t('users.title'),
            isNumber: true,
            cell: ({ account_id, name, users }) => (
              <Link href={`/operator/users?account=${account_id}`}>
                {count(users)}
                <span className="visually-hidden"> {t('accounts.usersOf', { name })}</span>
              </Link>
            ),
          },
        ]}
        actions={{
          header: t('accounts.manage'),
          of: ({ account_id, name }) => (
            <Button aria-label={t('accounts.manageNamed', { name })} onClick={() => setManagedId(account_id)}>
              {t('accounts.manage')}
            </Button>
          ),
        }}
      />
      {managed && <ManageAccount account={managed} onClose={() => setManagedId(null)} />}
    </div>
  );
}

function AccountBadges({ account }: { account: AccountRow }): ReactNode {
  const { signing_enabled, test_of } = account;
  const state = account.moved_to === null ? account.state : 'moved';
  const { t } = useTranslation('operator');
  return (
    <span className="row">
      <span className={state === 'active' ? 'badge' : 'badge badge-warn'}>{t(`accounts.${state}`)}</span>
      {test_of !== null && <span className="badge">{t('accounts.test')}</span>}
      {signing_enabled && <span className="badge">{t('accounts.signs')}</span>}
    </span>
  );
}
