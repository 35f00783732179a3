import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { MEMBER_ROLES, type MemberRole } from '../../api/session.ts';
import './members.css';

/** The roles of an account, each with what it permits. None is chosen in advance, so that nobody gets more than was meant. */
export function RoleChoice(props: { value: MemberRole | null; onChange: (role: MemberRole) => void }): ReactNode {
  const { t } = useTranslation('users');
  const id = useId();
  return (
    <fieldset className="role-choice">
      <legend>{t('role')}</legend>
      {MEMBER_ROLES.map((role) => (
        <div key={role}>
          <input
            type="radio"
            id={`${id}-${role}`}
            name={id}
            required
            aria-describedby={`${id}-${role}-about`}
            checked={props.value === role}
            onChange={() => props.onChange(role)}
          />
          <label htmlFor={`${id}-${role}`}>{t(`common:role.${role}`)}</label>
          <p id={`${id}-${role}-about`} className="hint">
            {t(`roleAbout.${role}`)}
          </p>
        </div>
      ))}
    </fieldset>
  );
}
