import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { AccountRow } from '../../api/operator.ts';
import { formatCount } from '../../components/numbers.ts';
import { ManageAccount } from './manage-account.tsx';
import '../../components/data-table.css';

export function AccountTable({ accounts, countedTo }: { accounts: AccountRow[]; countedTo: number }): ReactNode {
  const { t } = useTranslation('operator');
  const [managedId, setManagedId] = useState<number | null>(null);
  const managed = accounts.find((account) => account.account_id === managedId);
  const count = (number: number) => (number > countedTo ? `${formatCount(countedTo)}+` : formatCount(number));
  return (
    <div className="card table-card">
      <table className="data-table">
        <thead>
          <tr>
            <th scope="col">{t('accounts.account')}</th>
            <th scope="col">{t('accounts.state')}</th>
            <th scope="col" className="is-number">
              {t('accounts.waiting')}
            </th>
            <th scope="col" className="is-number">
              {t('accounts.dead')}
            </th>
            <th scope="col">{t('accounts.limit')}</th>
            <th scope="col" className="is-number">
              {t('users.title')}
            </th>
            <th scope="col">
              <span className="visually-hidden">{t('accounts.manage')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {accounts.map((account) => (
            <tr key={account.account_id}>
              <th scope="row">
                <Link href={`/accounts/${account.account_id}/review`} dir="auto">
                  {account.name}
                </Link>{' '}
                <bdi dir="ltr" className="hint">
                  #{account.account_id}
                </bdi>
              </th>
              <td data-label={t('accounts.state')}>
                <AccountBadges account={account} />
              </td>
              <td className="is-number" data-label={t('accounts.waiting')}>
                {count(account.orders_waiting)}
              </td>
              <td className="is-number" data-label={t('accounts.dead')}>
                {account.dead_receipts > 0 ? (
                  <Link href={`/accounts/${account.account_id}/receipts?state=dead`} className="badge badge-bad">
                    {count(account.dead_receipts)}
                    <span className="visually-hidden"> {t('accounts.deadOf', { name: account.name })}</span>
                  </Link>
                ) : (
                  count(0)
                )}
              </td>
              <td data-label={t('accounts.limit')}>
                <RateLimit limit={account.rate_limit} />
              </td>
              <td className="is-number" data-label={t('users.title')}>
                <Link href={`/operator/users?account=${account.account_id}`}>
                  {count(account.users)}
                  <span className="visually-hidden"> {t('accounts.usersOf', { name: account.name })}</span>
                </Link>
              </td>
              <td className="cell-actions">
                <button
                  type="button"
                  className="button"
                  aria-label={t('accounts.manageNamed', { name: account.name })}
                  onClick={() => setManagedId(account.account_id)}
                >
                  {t('accounts.manage')}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {managed && <ManageAccount account={managed} onClose={() => setManagedId(null)} />}
    </div>
  );
}

function AccountBadges({ account }: { account: AccountRow }): ReactNode {
  const { t } = useTranslation('operator');
  return (
    <span className="row">
      {account.state === 'active' ? (
        <span className="badge">{t('accounts.active')}</span>
      ) : (
        <span className="badge badge-warn">{t('accounts.suspended')}</span>
      )}
      {account.signing_enabled && <span className="badge">{t('accounts.signs')}</span>}
    </span>
  );
}

function RateLimit({ limit }: { limit: string }): ReactNode {
  const { t } = useTranslation('operator');
  if (limit === 'default' || limit === 'none') return t(`limit.${limit}`);
  return <bdi dir="ltr">{limit}</bdi>;
}
