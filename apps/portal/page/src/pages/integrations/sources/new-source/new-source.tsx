import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { type ApiProblem, isProblem } from '../../../../api/client.ts';
import { useAccountId } from '../../../../api/session.ts';
import { createSource, type SourcePreset } from '../../../../api/sources.ts';
import { Field } from '../../../../components/field.tsx';
import { ProblemNote } from '../../../../components/problem-note.tsx';
import { Segments } from '../../../../components/segments.tsx';
import { useAction } from '../../../../components/use-action.ts';
import { sourcesHref } from '../use-sources-view.ts';
import { CUSTOM_DEFAULTS, type CustomForm, customSettings, standardSettings } from './custom-settings.ts';
import { Steps } from './steps.tsx';
import { useUnfinished } from './unfinished.ts';

type TextName = 'header' | 'prefix' | 'topic' | 'orderTopics' | 'cancellationTopics' | 'deliveryId';

/** Where the API reports an error of each field. */
const POINTERS: Record<TextName, string> = {
  header: '/settings/signature/header',
  prefix: '/settings/signature/prefix',
  topic: '/settings/topic',
  orderTopics: '/settings/topics/order',
  cancellationTopics: '/settings/topics/cancellation',
  deliveryId: '/settings/deliveryId',
};

/** How a platform signs, and how it names its events. */
function SettingsFields(props: {
  form: CustomForm;
  hasSignature: boolean;
  errors: ApiProblem['errors'];
  onChange: (form: CustomForm) => void;
}): ReactNode {
  const { t } = useTranslation('sources');
  const { form, errors, hasSignature } = props;
  const change = (patch: Partial<CustomForm>) => props.onChange({ ...form, ...patch });
  const text = (name: TextName, hasHint = false) => (
    <Field
      label={t(`settings.${name}`)}
      {...(hasHint && { hint: t(`settings.${name}Hint`) })}
      error={errors.some(({ pointer }) => pointer.startsWith(POINTERS[name])) ? t('settings.refused') : null}
      dir="ltr"
      autoComplete="off"
      maxLength={400}
      value={form[name]}
      onChange={(event) => change({ [name]: event.target.value })}
    />
  );
  const choice = <Value extends string>(
    name: 'scheme' | 'algorithm' | 'encoding' | 'topicIn',
    value: Value,
    values: readonly Value[],
  ) => (
    <Segments<Value>
      label={t(`settings.${name}`)}
      options={values.map((one) => ({
        value: one,
        name: t(`settings.${name}Value.${one}` as 'settings.schemeValue.hmac'),
      }))}
      value={value}
      onChange={(chosen) => change({ [name]: chosen })}
    />
  );
  return (
    <>
      {hasSignature && (
        <>
          {choice('scheme', form.scheme, ['hmac', 'token'])}
          {text('header', true)}
          {form.scheme === 'hmac' && (
            <div className="row source-settings">
              {choice('algorithm', form.algorithm, ['sha256', 'sha1'])}
              {choice('encoding', form.encoding, ['hex', 'base64'])}
            </div>
          )}
          {text('prefix', true)}
          {choice('topicIn', form.topicIn, ['none', 'header', 'pointer'])}
          {form.topicIn !== 'none' && text('topic', true)}
        </>
      )}
      {(!hasSignature || form.topicIn !== 'none') && (
        <>
          {text('orderTopics', true)}
          {text('cancellationTopics')}
        </>
      )}
      {hasSignature && text('deliveryId', true)}
    </>
  );
}

const PRESETS: SourcePreset[] = ['shopify', 'woocommerce', 'standard-webhooks', 'custom'];

/** The first step: the platform, a name, and how another platform signs. */
export function NewSource(): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { unfinished, keep } = useUnfinished();
  const { preset, name, custom } = unfinished;
  const creating = useAction({
    mutationFn: async () => {
      const settings =
        preset === 'custom' ? customSettings(custom) : preset === 'standard-webhooks' ? standardSettings(custom) : null;
      const { source_number, secret } = await createSource(accountId, { name, preset, ...(settings && { settings }) });
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      keep(({ created }) => ({
        name: '',
        custom: CUSTOM_DEFAULTS,
        ...(secret !== undefined && { created: { ...created, [source_number]: secret } }),
      }));
      // The way back leads to this source, and not to a form that would create another one.
      navigate(sourcesHref(accountId, 'new', source_number), { replace: true });
      navigate(sourcesHref(accountId, 'connect', source_number));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  const errors = isProblem(creating.error, 'invalid_request') ? creating.error.errors : [];
  return (
    <section className="card stack" aria-labelledby="new-source-title">
      <h2 id="new-source-title">{t('new.title')}</h2>
      <Steps current="platform" />
      <form className="stack narrow" onSubmit={submit}>
        <fieldset className="stack-tight preset-choice">
          <legend>{t('new.preset')}</legend>
          {PRESETS.map((value) => (
            <label key={value} className="resend-choice">
              <input
                type="radio"
                name="preset"
                checked={value === preset}
                onChange={() => keep(() => ({ preset: value }))}
              />
              <strong>{t(`preset.${value}`)}</strong>
              <span className="hint">{t(`presetAbout.${value}`)}</span>
            </label>
          ))}
        </fieldset>
        <Field
          label={t('new.name')}
          hint={t('new.nameHint')}
          dir="auto"
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={(event) => keep(() => ({ name: event.target.value }))}
        />
        {(preset === 'custom' || preset === 'standard-webhooks') && (
          <SettingsFields
            form={custom}
            hasSignature={preset === 'custom'}
            errors={errors}
            onChange={(changed) => keep(() => ({ custom: changed }))}
          />
        )}
        {creating.error !== null && <ProblemNote error={creating.error} />}
        <div className="row">
          <button type="submit" className="button button-main" disabled={creating.isPending || name.trim() === ''}>
            {t('new.submit')}
          </button>
        </div>
      </form>
    </section>
  );
}
