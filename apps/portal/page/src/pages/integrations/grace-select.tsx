import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { GRACE_PERIODS, type Grace } from '../../api/integrations.ts';

/** Selects how long a replaced key or secret still works. */
export function GraceSelect(props: { label: string; value: Grace; onChange: (value: Grace) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={(event) => props.onChange(event.target.value as Grace)}>
        {GRACE_PERIODS.map((period) => (
          <option key={period} value={period}>
            {t(`grace.${period}`)}
          </option>
        ))}
      </select>
    </div>
  );
}
