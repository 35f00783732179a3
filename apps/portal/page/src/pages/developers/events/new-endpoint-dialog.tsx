import { EVENT_TYPES } from '@orders/domain/events.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiProblem, call, isProblem } from '../../../api/client.ts';
import type { EndpointWithSecret, EventType } from '../../../api/events.ts';
import { useAccountId } from '../../../api/session.ts';
import { CheckChoice, Field } from '../../../components/field.tsx';
import { FormDialog } from '../../../components/form-dialog.tsx';
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
      const body = { url: url.trim(), types: choice === 'all' ? null : types };
      setSecret((await call<EndpointWithSecret>('POST', `/accounts/${accountId}/endpoints`, { body })).secret);
      void queryClient.invalidateQueries({ queryKey: ['endpoints', accountId] });
    },
  });
  const errors = isProblem(creating.error, 'invalid_request') ? creating.error.errors : [];
  const areTypesRejected = types.length === 0 && errors.some(({ pointer }) => pointer.startsWith('/types'));
  if (secret !== null) return <NewSecret secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={t('endpoints.create')}
      submit={t('endpoints.submit')}
      action={creating}
      isExplained={errors.length > 0}
      isIncomplete={url.trim() === ''}
      onClose={onClose}
    >
      <UrlField value={url} errors={errors} onChange={setUrl} />
      <Segments
        label={t('types.label')}
        options={(['all', 'some'] as const).map((value) => ({ value, name: t(`types.choice.${value}`) }))}
        value={choice}
        onChange={setChoice}
      />
      {choice === 'all' ? (
        <p className="hint">{t('types.allAbout')}</p>
      ) : (
        <CheckChoice
          label={t('types.choose')}
          options={EVENT_TYPES}
          nameOf={(type) => <TypeName type={type} />}
          values={types}
          error={areTypesRejected ? t('types.rejected') : null}
          onChange={setTypes}
        />
      )}
    </FormDialog>
  );
}

const URL_ERRORS = ['malformed', 'credentials', 'fragment', 'scheme', 'port', 'host'] as const;

function UrlField(props: { value: string; errors: ApiProblem['errors']; onChange: (url: string) => void }): ReactNode {
  const { t } = useTranslation('events');
  const rejected = props.errors.find(({ pointer }) => pointer === '/url');
  const known = URL_ERRORS.find((code) => code === rejected?.code) ?? 'malformed';
  return (
    <Field
      label={t('url.label')}
      hint={t('url.hint')}
      error={rejected ? t(`url.${known}`) : null}
      dir="ltr"
      inputMode="url"
      autoCapitalize="none"
      autoComplete="off"
      spellCheck={false}
      required
      maxLength={2000}
      value={props.value}
      onChange={props.onChange}
    />
  );
}
