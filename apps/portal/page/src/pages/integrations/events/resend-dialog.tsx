import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import { type Endpoint, resendEvents, useEventLog } from '../../../api/events.ts';
import { useAccountId } from '../../../api/session.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Field } from '../../../components/field.tsx';
import { FormButtons } from '../../../components/form-buttons.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { useAction } from '../../../components/use-action.ts';

const NUMBER = /^\s*[1-9]\d{0,14}\s*$/;

/** Has a range of stored events delivered again. */
export function ResendDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const notices = useNotices();
  const log = useEventLog(accountId).data;
  const [range, setRange] = useState({ from: '', to: '' });
  const [isChecked, setChecked] = useState(false);
  const resending = useAction({
    mutationFn: (chosen: typeof range) =>
      resendEvents(accountId, endpoint.endpoint_id, Number(chosen.from), Number(chosen.to)),
    onSuccess: (count) => {
      if (count === 0) return;
      notices.show({ text: t('resend.requested', { count }) });
      void queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
      onClose();
    },
  });
  const errors = {
    from: NUMBER.test(range.from) ? null : t('resend.notNumber'),
    to: !NUMBER.test(range.to)
      ? t('resend.notNumber')
      : Number(range.to) < Number(range.from)
        ? t('resend.reversed')
        : null,
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (errors.from === null && errors.to === null) resending.mutate(range);
  };
  const field = (name: 'from' | 'to') => (
    <Field
      label={t(`resend.${name}`)}
      error={isChecked ? errors[name] : null}
      dir="ltr"
      inputMode="numeric"
      autoComplete="off"
      maxLength={15}
      value={range[name]}
      onChange={(event) => {
        resending.reset();
        setRange({ ...range, [name]: event.target.value });
      }}
    />
  );
  const hasStored = log && log.first_sequence !== null && log.last_sequence !== null;
  return (
    <Dialog title={t('resend.title')} onClose={onClose}>
      <form className="stack" noValidate onSubmit={submit}>
        <p>{t('resend.about')}</p>
        {hasStored && (
          <p className="hint">{t('log.stored', { from: String(log.first_sequence), to: String(log.last_sequence) })}</p>
        )}
        <div className="row resend-range">
          {field('from')}
          {field('to')}
        </div>
        {resending.data === 0 && <p className="note note-warn">{t('resend.nothing')}</p>}
        {resending.isError && !isProblem(resending.error, 'invalid_request') && <ProblemNote error={resending.error} />}
        <FormButtons submit={t('resend.submit')} isBusy={resending.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
