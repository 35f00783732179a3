import type { SourceSettings } from '../../../../api/sources.ts';

/** The settings of a source as typed. Lists of topics are separated by commas. */
export interface CustomForm {
  scheme: 'hmac' | 'token';
  header: string;
  algorithm: 'sha256' | 'sha1';
  encoding: 'hex' | 'base64';
  prefix: string;
  topicIn: 'none' | 'header' | 'pointer';
  topic: string;
  orderTopics: string;
  cancellationTopics: string;
  deliveryId: string;
}

export const CUSTOM_DEFAULTS: CustomForm = {
  scheme: 'hmac',
  header: 'x-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  topicIn: 'none',
  topic: '',
  orderTopics: 'order.created, order.updated',
  cancellationTopics: 'order.cancelled',
  deliveryId: '',
};

export function customSettings(form: CustomForm): SourceSettings {
  const { scheme, algorithm, encoding, topicIn, topic, deliveryId } = form;
  const header = { header: form.header.trim(), ...(form.prefix !== '' && { prefix: form.prefix }) };
  const value = topic.trim();
  return {
    signature: scheme === 'hmac' ? { scheme, algorithm, encoding, ...header } : { scheme, ...header },
    ...(deliveryId.trim() !== '' && { deliveryId: { header: deliveryId.trim() } }),
    ...(topicIn !== 'none' && {
      topic: topicIn === 'header' ? { header: value } : { pointer: value },
      topics: topicsOf(form),
    }),
  };
}

/** Standard Webhooks fix all but the names of the events. */
export function standardSettings(form: CustomForm): Partial<SourceSettings> {
  return { topics: topicsOf(form) };
}

function topicsOf({ orderTopics, cancellationTopics }: CustomForm) {
  return { order: listOf(orderTopics), cancellation: listOf(cancellationTopics) };
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((topic) => topic.trim())
    .filter(Boolean);
}
