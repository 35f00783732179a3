import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../../../../api/client.ts';
import { Field } from '../../../../components/field.tsx';
import { Segments } from '../../../../components/segments.tsx';
import type { CustomForm } from './custom-settings.ts';

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
export function SettingsFields(props: {
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
