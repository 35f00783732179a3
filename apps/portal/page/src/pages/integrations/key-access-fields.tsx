import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type KeyRequest, LIFETIMES, SCOPES } from '../../api/integrations.ts';
import { FieldError } from '../../components/field-error.tsx';
import { Segments } from '../../components/segments.tsx';

export type KeyAccess = Pick<KeyRequest, 'scopes' | 'expires'> & {
  /** As typed. */
  addresses: string;
};

/** What a new key may do, for how long, and from where. */
export function KeyAccessFields(props: {
  access: KeyAccess;
  isAddressRefused: boolean;
  onChange: (access: KeyAccess) => void;
}): ReactNode {
  const { t } = useTranslation('integrations');
  const { access, onChange } = props;
  const id = useId();
  return (
    <>
      <fieldset className="stack-tight type-choice">
        <legend>{t('keys.scopes')}</legend>
        {SCOPES.map((scope) => (
          <label key={scope} className="resend-choice">
            <input
              type="checkbox"
              checked={access.scopes.includes(scope)}
              onChange={(event) => {
                const scopes = SCOPES.filter((one) =>
                  one === scope ? event.target.checked : access.scopes.includes(one),
                );
                onChange({ ...access, scopes });
              }}
            />
            <span>{t(`keys.scope.${scope}`)}</span>
          </label>
        ))}
      </fieldset>
      <Segments
        label={t('keys.lifetime')}
        options={LIFETIMES.map((value) => ({ value, name: t(`keys.lifetimes.${value}`) }))}
        value={access.expires}
        onChange={(expires) => onChange({ ...access, expires })}
      />
      <div className="field">
        <label htmlFor={id}>{t('keys.addresses')}</label>
        <textarea
          id={id}
          dir="ltr"
          rows={2}
          spellCheck={false}
          aria-describedby={`${id}-hint ${id}-error`}
          aria-invalid={props.isAddressRefused ? true : undefined}
          value={access.addresses}
          onChange={(event) => onChange({ ...access, addresses: event.target.value })}
        />
        <p id={`${id}-hint`} className="hint">
          {t('keys.addressesHint')}
        </p>
        <FieldError id={`${id}-error`} text={props.isAddressRefused ? t('keys.addressesRefused') : null} />
      </div>
    </>
  );
}

/** Splits what was typed, addresses and ranges separated by spaces, line ends or commas. */
export function addressesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
