import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAccountId, useCan } from '../../../api/session.ts';
import { type Source, setIdPrefix } from '../../../api/sources.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Field } from '../../../components/field.tsx';
import { FormButtons } from '../../../components/form-buttons.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { useAction } from '../../../components/use-action.ts';

/** What the order ids of a source begin with; until its first order, a person can change it. */
export function IdPrefix({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const mayChange = useCan()('develop');
  const [isOpen, setOpen] = useState(false);
  const { id_prefix, is_used, name } = source;
  return (
    <div className="row hint">
      {id_prefix === '' ? (
        <span>{t('prefix.none')}</span>
      ) : (
        <span>
          {t('prefix.shown')} <code dir="ltr">{id_prefix}:</code>
        </span>
      )}
      {mayChange && !is_used && (
        <button type="button" className="button" aria-label={t('prefix.title', { name })} onClick={() => setOpen(true)}>
          {t('prefix.change')}
        </button>
      )}
      {isOpen && <PrefixDialog source={source} onClose={() => setOpen(false)} />}
    </div>
  );
}

function PrefixDialog({ source, onClose }: { source: Source; onClose: () => void }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [prefix, setPrefix] = useState(source.id_prefix);
  const changing = useAction({
    mutationFn: async () => {
      await setIdPrefix(accountId, source.source_number, prefix.trim());
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    changing.mutate();
  };
  return (
    <Dialog title={t('prefix.title', { name: source.name })} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p>{t('prefix.about')}</p>
        <Field
          label={t('prefix.label')}
          hint={t('prefix.hint')}
          dir="ltr"
          autoComplete="off"
          spellCheck={false}
          maxLength={30}
          value={prefix}
          onChange={(event) => setPrefix(event.target.value)}
        />
        {changing.error !== null && <ProblemNote error={changing.error} />}
        <FormButtons submit={t('prefix.submit')} isBusy={changing.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
