import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { type ApiProblem, call, isProblem } from '../../../api/client.ts';
import { useAccountId } from '../../../api/session.ts';
import { PRESETS, type SourceWithSecret } from '../../../api/sources.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { CheckChoice, Field, NameField, RadioChoice } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { Segments } from '../../../components/segments.tsx';
import { useAction } from '../../../components/use-action.ts';
import { sourcesHref, useChosenPreset } from '../../addresses.ts';
import { CUSTOM_DEFAULTS, type CustomForm, customSettings, standardSettings, useUnfinished } from './unfinished.ts';

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
      onChange={(value) => change({ [name]: value })}
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

/** The first step: the platform, a name, and how another platform signs. */
export function NewSource(): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { unfinished, keep } = useUnfinished();
  const { preset, name, custom, waitUntilPaid } = unfinished;
  const chosen = useChosenPreset();
  useEffect(() => {
    if (chosen) keep(() => ({ preset: chosen }));
  }, [chosen, keep]);
  const creating = useAction({
    mutationFn: async () => {
      const chosen =
        preset === 'custom' ? customSettings(custom) : preset === 'standard-webhooks' ? standardSettings(custom) : null;
      const settings = waitUntilPaid ? { ...chosen, waitUntilPaid } : chosen;
      const body = { name, preset, ...(settings && { settings }) };
      const path = `/accounts/${accountId}/sources`;
      const { source_number, secret } = await call<SourceWithSecret>('POST', path, { body });
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      keep(({ created }) => ({
        name: '',
        waitUntilPaid: false,
        custom: CUSTOM_DEFAULTS,
        ...(secret !== undefined && { created: { ...created, [source_number]: secret } }),
      }));
      // The way back leads to this source, and not to a form that would create another one.
      navigate(sourcesHref(accountId, 'new', source_number), { replace: true });
      navigate(sourcesHref(accountId, 'connect', source_number));
    },
  });
  const errors = isProblem(creating.error, 'invalid_request') ? creating.error.errors : [];
  return (
    <Card title={t('new.title')}>
      <Steps current="platform" />
      <Form className="stack narrow" action={creating}>
        <RadioChoice
          label={t('new.preset')}
          options={PRESETS.map((value) => ({ value, name: t(`preset.${value}`), about: t(`presetAbout.${value}`) }))}
          value={preset}
          onChange={(value) => keep(() => ({ preset: value }))}
        />
        <NameField
          label={t('new.name')}
          hint={t('new.nameHint')}
          maxLength={100}
          value={name}
          onChange={(value) => keep(() => ({ name: value }))}
        />
        <CheckChoice
          label={t('new.unpaid')}
          options={['wait']}
          nameOf={() => t('new.waitUntilPaid')}
          hint={t('new.waitHint')}
          values={waitUntilPaid ? ['wait'] : []}
          onChange={(values) => keep(() => ({ waitUntilPaid: values.length > 0 }))}
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
          <Button type="submit" kind="main" disabled={creating.isPending || name.trim() === ''}>
            {t('new.submit')}
          </Button>
        </div>
      </Form>
    </Card>
  );
}

const STEPS = ['platform', 'connect', 'test'] as const;
export type Step = (typeof STEPS)[number];

/** The steps of the wizard, with the current one. */
export function Steps({ current }: { current: Step }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <ol className="plain row source-steps">
      {STEPS.map((step, index) => (
        <li key={step} aria-current={step === current ? 'step' : undefined}>
          <span className="badge">{index + 1}</span> {t(`step.${step}`)}
        </li>
      ))}
    </ol>
  );
}
