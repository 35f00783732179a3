import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Member } from '../../api/members.ts';
import { useSession } from '../../api/session.ts';
import { Ago } from '../../components/time.tsx';
import '../../components/data-table.css';

/** The users of an account, with their roles. */
export function MembersTable(props: {
  members: Member[];
  onRole: (member: Member) => void;
  onRemove: (member: Member) => void;
}): ReactNode {
  const { t } = useTranslation('users');
  const { email: own } = useSession();
  return (
    <div className="card table-card">
      <table className="data-table">
        <thead>
          <tr>
            <th scope="col">{t('who')}</th>
            <th scope="col">{t('role')}</th>
            <th scope="col">{t('lastSignedIn')}</th>
            <th scope="col">
              <span className="visually-hidden">{t('actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.members.map((member) => {
            const { user_id, name, email, role, last_signed_in_at } = member;
            const actionFor = (action: string) => t('actionFor', { action, email });
            return (
              <tr key={user_id}>
                <th scope="row">
                  <bdi>{name}</bdi> {email === own && <span className="badge">{t('you')}</span>}
                  <p className="hint">
                    <bdi dir="ltr">{email}</bdi>
                  </p>
                </th>
                <td data-label={t('role')}>
                  <span className="badge">{t(`common:role.${role}`)}</span>
                </td>
                <td data-label={t('lastSignedIn')}>
                  {last_signed_in_at === null ? t('never') : <Ago at={last_signed_in_at} />}
                </td>
                <td className="cell-actions">
                  <span className="row">
                    <button
                      type="button"
                      className="button"
                      aria-label={actionFor(t('changeRole'))}
                      onClick={() => props.onRole(member)}
                    >
                      {t('changeRole')}
                    </button>
                    <button
                      type="button"
                      className="button button-bad"
                      aria-label={actionFor(t('remove'))}
                      onClick={() => props.onRemove(member)}
                    >
                      {t('remove')}
                    </button>
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
