import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { useDeadCounts } from '../../api/receipts.ts';
import { useAccountId } from '../../api/session.ts';
import { Field } from '../../components/field.tsx';
import { formatCount } from '../../components/numbers.ts';
import type { Filters } from './filters.ts';

/** Filters dead receipts by error, source and time of death. */
export function DeadFilter({
  filters,
  change,
}: {
  filters: Filters;
  change: (patch: Partial<Filters>) => void;
}): ReactNode {
  const { t } = useTranslation('receipts');
  const { data } = useDeadCounts(useAccountId());
  const id = useId();
  const input = (name: 'source_prefix' | 'died_from' | 'died_to') => ({
    label: t(`dead.${name}`),
    value: filters[name],
    onChange: (event: { target: { value: string } }) => change({ [name]: event.target.value }),
  });
  return (
    <div className="dead-filter">
      <div className="field">
        <label htmlFor={id}>{t('dead.error_code')}</label>
        <select id={id} value={filters.error_code} onChange={(event) => change({ error_code: event.target.value })}>
          <option value="">{t('dead.anyError')}</option>
          {data?.codes.map(({ error_code, count }) => (
            <option key={error_code} value={error_code ?? ''}>
              {`${t(`error.${error_code}.name`, { defaultValue: error_code ?? '' })} (${formatCount(count)})`}
            </option>
          ))}
        </select>
      </div>
      <Field {...input('source_prefix')} dir="auto" maxLength={255} autoComplete="off" />
      <Field {...input('died_from')} type="datetime-local" />
      <Field {...input('died_to')} type="datetime-local" />
    </div>
  );
}
