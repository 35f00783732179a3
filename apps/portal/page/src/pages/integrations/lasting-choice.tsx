import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type Grace, LASTINGS } from '../../api/integrations.ts';

/** Chooses how long what is replaced still works. */
export function LastingChoice(props: { label: string; value: Grace; onChange: (value: Grace) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={(event) => props.onChange(event.target.value as Grace)}>
        {LASTINGS.map((one) => (
          <option key={one} value={one}>
            {t(`lasting.${one}`)}
          </option>
        ))}
      </select>
    </div>
  );
}
