import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { UserRow } from '../../api/operator.ts';
import { useSession } from '../../api/session.ts';
import { Ago } from '../../components/time.tsx';
import '../../components/data-table.css';

export type UserAction = { what: 'link' | 'sessions' | 'secondFactors' | 'remove'; user: UserRow };

/** Users with their roles in each of their accounts. */
export function UserTable({ users, onAsk }: { users: UserRow[]; onAsk: (confirming: UserAction) => void }): ReactNode {
  const { t } = useTranslation('operator');
  const { email: own } = useSession();
  return (
    <div className="card table-card">
      <table className="data-table">
        <thead>
          <tr>
            <th scope="col">{t('users.who')}</th>
            <th scope="col">{t('users.role')}</th>
            <th scope="col">{t('users.lastSignedIn')}</th>
            <th scope="col">
              <span className="visually-hidden">{t('users.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <tr key={user.user_id}>
              <th scope="row">
                <bdi>{user.name}</bdi>
                <p className="hint">
                  <bdi dir="ltr">{user.email}</bdi>
                </p>
              </th>
              <td data-label={t('users.role')}>
                {user.role === 'operator' && <span className="badge">{t('common:role.operator')}</span>}
                <ul className="plain user-memberships">
                  {user.memberships.map(({ account_id, role }) => (
                    <li key={account_id}>
                      <Link href={`/operator/users?account=${account_id}`}>
                        {t('users.memberOf', { role: t(`common:role.${role}`), id: account_id })}
                      </Link>
                    </li>
                  ))}
                </ul>
              </td>
              <td data-label={t('users.lastSignedIn')}>
                {user.last_signed_in_at === null ? t('users.never') : <Ago at={user.last_signed_in_at} />}
              </td>
              <td className="cell-actions">
                <span className="row">
                  {(['link', 'sessions', 'secondFactors', 'remove'] as const).map(
                    (what) =>
                      !((what === 'remove' || what === 'secondFactors') && user.email === own) && (
                        <button
                          key={what}
                          type="button"
                          className={what === 'remove' ? 'button button-bad' : 'button'}
                          aria-label={t('users.actionFor', { action: t(`users.${what}`), email: user.email })}
                          onClick={() => onAsk({ what, user })}
                        >
                          {t(`users.${what}`)}
                        </button>
                      ),
                  )}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
