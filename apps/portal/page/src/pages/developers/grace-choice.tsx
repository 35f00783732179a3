import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { GRACE_PERIODS, type Grace } from '../../api/integrations.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Segments } from '../../components/segments.tsx';
import { useAction } from '../../components/use-action.ts';

/** How long a replaced key or secret still works. Enter in it submits the form, which a select would not do. */
export function GraceChoice(props: { label: string; value: Grace; onChange: (value: Grace) => void }): ReactNode {
  const { t } = useTranslation('integrations');
  const options = GRACE_PERIODS.map((value) => ({ value, name: t(`grace.${value}`) }));
  return <Segments options={options} {...props} />;
}

/** Asks how long the old key or secret still works, and replaces it. */
export function ReplaceDialog(props: {
  title: string;
  about: string;
  /** Of the choice. */
  label: string;
  submit: string;
  replace: (grace: Grace) => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}): ReactNode {
  const { title, about, label, submit, replace, onClose, children } = props;
  const [grace, setGrace] = useState<Grace>('24h');
  // The secret that is created must not stay in the cache of mutations.
  const replacing = useAction({ mutationFn: async () => void (await replace(grace)) });
  return (
    <FormDialog title={title} submit={submit} action={replacing} onClose={onClose}>
      <p>{about}</p>
      <GraceChoice label={label} value={grace} onChange={setGrace} />
      {children}
    </FormDialog>
  );
}
