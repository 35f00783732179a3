import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../api/client.ts';
import type { AccountRow } from '../../api/operator.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { FormButtons } from '../../components/form-buttons.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';

export function NewAccount(): ReactNode {
  const { t } = useTranslation('operator');
  const textOf = useProblemText();
  const notices = useNotices();
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const create = useAction({
    mutationFn: () => call<AccountRow>('POST', '/operator/accounts', { body: { name } }),
    onSuccess: async ({ account_id }) => {
      setOpen(false);
      setName('');
      notices.show({ text: t('accounts.created', { id: account_id }) });
      await queryClient.invalidateQueries({ queryKey: ['operator', 'accounts'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const errorText = (error: unknown) => (isProblem(error, 'invalid_request') ? t('accounts.nameRule') : textOf(error));
  return (
    <>
      <button type="button" className="button button-main" onClick={() => setOpen(true)}>
        {t('accounts.create')}
      </button>
      {isOpen && (
        <Dialog title={t('accounts.create')} onClose={() => setOpen(false)}>
          <form className="stack" onSubmit={submit}>
            <Field
              label={t('accounts.name')}
              dir="auto"
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
              hint={t('accounts.nameHint')}
              error={create.isError ? errorText(create.error) : null}
            />
            <FormButtons submit={t('accounts.create')} isBusy={create.isPending} onClose={() => setOpen(false)} />
          </form>
        </Dialog>
      )}
    </>
  );
}
