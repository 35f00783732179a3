import { EVENT_TYPES } from '@orders/domain/events.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiProblem, isProblem } from '../../../api/client.ts';
import { createEndpoint, type EventType } from '../../../api/events.ts';
import { useAccountId } from '../../../api/session.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Field, FieldError } from '../../../components/field.tsx';
import { FormButtons } from '../../../components/form-buttons.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Segments } from '../../../components/segments.tsx';
import { useAction } from '../../../components/use-action.ts';
import { NewSecret, TypeName } from './endpoint-state.tsx';

/** Asks for the URL and the types of events, creates the endpoint and shows its secret once. */
export function NewEndpointDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { t } = useTranslation('events');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [url, setUrl] = useState('');
  const [choice, setChoice] = useState<'all' | 'some'>('all');
  const [types, setTypes] = useState<EventType[]>([]);
  const [secret, setSecret] = useState<string | null>(null);
  const creating = useAction({
    mutationFn: async () => {
      const created = await createEndpoint(accountId, { url: url.trim(), types: choice === 'all' ? null : types });
      setSecret(created.secret);
      void queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  const errors = isProblem(creating.error, 'invalid_request') ? creating.error.errors : [];
  return (
    <Dialog title={t(secret === null ? 'endpoints.create' : 'secret.title')} onClose={onClose}>
      {secret === null ? (
        <form className="stack" onSubmit={submit}>
          <UrlField value={url} errors={errors} onChange={setUrl} />
          <Segments
            label={t('types.label')}
            options={(['all', 'some'] as const).map((value) => ({ value, name: t(`types.choice.${value}`) }))}
            value={choice}
            onChange={setChoice}
          />
          {choice === 'all' && <p className="hint">{t('types.allAbout')}</p>}
          {choice === 'some' && (
            <TypeChoice
              types={types}
              error={
                types.length === 0 && errors.some(({ pointer }) => pointer.startsWith('/types'))
                  ? t('types.refused')
                  : null
              }
              onChange={setTypes}
            />
          )}
          {creating.error !== null && errors.length === 0 && <ProblemNote error={creating.error} />}
          <FormButtons
            submit={t('endpoints.submit')}
            isBusy={creating.isPending || url.trim() === ''}
            onClose={onClose}
          />
        </form>
      ) : (
        <NewSecret secret={secret} onClose={onClose} />
      )}
    </Dialog>
  );
}

const URL_ERRORS = ['malformed', 'credentials', 'fragment', 'scheme', 'port', 'host'] as const;

function UrlField(props: { value: string; errors: ApiProblem['errors']; onChange: (url: string) => void }): ReactNode {
  const { t } = useTranslation('events');
  const refused = props.errors.find(({ pointer }) => pointer === '/url');
  const known = URL_ERRORS.find((code) => code === refused?.code) ?? 'malformed';
  return (
    <Field
      label={t('url.label')}
      hint={t('url.hint')}
      error={refused ? t(`url.${known}`) : null}
      dir="ltr"
      inputMode="url"
      autoCapitalize="none"
      autoComplete="off"
      spellCheck={false}
      required
      maxLength={2000}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    />
  );
}

function TypeChoice(props: {
  types: EventType[];
  error: string | null;
  onChange: (types: EventType[]) => void;
}): ReactNode {
  const { t } = useTranslation('events');
  return (
    <fieldset className="stack-tight type-choice">
      <legend>{t('types.choose')}</legend>
      {EVENT_TYPES.map((type) => (
        <label key={type} className="resend-choice">
          <input
            type="checkbox"
            checked={props.types.includes(type)}
            onChange={(event) =>
              props.onChange(
                EVENT_TYPES.filter((one) => (one === type ? event.target.checked : props.types.includes(one))),
              )
            }
          />
          <TypeName type={type} />
        </label>
      ))}
      <FieldError text={props.error} />
    </fieldset>
  );
}
