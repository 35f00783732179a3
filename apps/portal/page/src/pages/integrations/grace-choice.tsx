import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { GRACE_PERIODS, type Grace } from '../../api/integrations.ts';
import { Segments } from '../../components/segments.tsx';

/** How long a replaced key or secret still works. Enter in it submits the form, which a select would not do. */
export function GraceChoice(props: { label: string; value: Grace; onChange: (value: Grace) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  return (
    <Segments
      label={props.label}
      options={GRACE_PERIODS.map((value) => ({ value, name: t(`grace.${value}`) }))}
      value={props.value}
      onChange={props.onChange}
    />
  );
}
