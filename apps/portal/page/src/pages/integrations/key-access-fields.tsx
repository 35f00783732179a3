import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../api/client.ts';
import { type KeyRequest, LIFETIMES, SCOPES } from '../../api/integrations.ts';
import { FieldError } from '../../components/field.tsx';
import { Segments } from '../../components/segments.tsx';

const UNCHANGED = 'unchanged' as const;

/** `expires` is null where the expiry of an existing key stays as it is. */
export interface KeyAccess extends Pick<KeyRequest, 'scopes'> {
  expires: KeyRequest['expires'] | null;
  /** As typed. */
  addresses: string;
}

/** What a key may do, for how long, and from where. */
export function KeyAccessFields(props: {
  access: KeyAccess;
  isNew: boolean;
  error: unknown;
  onChange: (access: KeyAccess) => void;
}): ReactNode {
  const { t } = useTranslation('integrations');
  const { access, onChange } = props;
  const isRefused = areAddressesRefused(props.error);
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
        options={[...(props.isNew ? [] : [UNCHANGED]), ...LIFETIMES].map((value) => ({
          value,
          name: t(`keys.lifetimes.${value}`),
        }))}
        value={access.expires ?? UNCHANGED}
        onChange={(expires) => onChange({ ...access, expires: expires === UNCHANGED ? null : expires })}
      />
      <div className="field">
        <label htmlFor={id}>{t('keys.addresses')}</label>
        <textarea
          id={id}
          dir="ltr"
          rows={2}
          spellCheck={false}
          aria-describedby={`${id}-hint ${id}-error`}
          aria-invalid={isRefused ? true : undefined}
          value={access.addresses}
          onChange={(event) => onChange({ ...access, addresses: event.target.value })}
        />
        <p id={`${id}-hint`} className="hint">
          {t('keys.addressesHint')}
        </p>
        <FieldError id={`${id}-error`} text={isRefused ? t('keys.addressesRefused') : null} />
      </div>
    </>
  );
}

/** Whether the server refused the addresses, which the field says. */
export function areAddressesRefused(error: unknown): boolean {
  return isProblem(error, 'invalid_request') && error.errors.some(({ pointer }) => pointer.startsWith('/addresses'));
}

/** Splits what was typed, addresses and ranges separated by spaces, line ends or commas. */
export function addressesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
