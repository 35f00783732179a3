import { useCallback } from 'react';
import { useAccountId, useSession } from '../../../api/session.ts';
import type { SourcePreset, SourceSettings } from '../../../api/sources.ts';
import { createStore } from '../../../components/store.ts';

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

/** What was entered for a source that is not connected yet. */
interface Unfinished {
  preset: SourcePreset;
  name: string;
  /** Whether orders wait until they are paid. */
  waitUntilPaid: boolean;
  custom: CustomForm;
  /** Secrets that were created and are still shown, by the number of their source. */
  created: Readonly<Record<number, string>>;
  /** Secrets that were pasted and are not stored yet, by the number of their source. */
  pasted: Readonly<Record<number, string>>;
}

const NOTHING: Unfinished = {
  preset: 'shopify',
  name: '',
  waitUntilPaid: false,
  custom: CUSTOM_DEFAULTS,
  created: {},
  pasted: {},
};

// In memory only, as there are secrets in it: signing out loads the page again. Of one user, as another one may sign in when a session ends.
const stored = createStore({ of: '', unfinished: NOTHING });

/** What was entered in the steps to a new source, also before another page was opened. `keep` replaces parts of it. */
export function useUnfinished() {
  const { email } = useSession();
  const of = `${useAccountId()} ${email}`;
  const unfinished = stored.use((kept) => (kept.of === of ? kept.unfinished : NOTHING));
  const keep = useCallback(
    (change: (unfinished: Unfinished) => Partial<Unfinished>) => {
      const kept = stored.get();
      const before = kept.of === of ? kept.unfinished : NOTHING;
      stored.set({ of, unfinished: { ...before, ...change(before) } });
    },
    [of],
  );
  return { unfinished, keep };
}

/** The created and the pasted secret of a source, null without one, and a function that keeps other ones. */
export function useUnfinishedSecrets(sourceNumber: number) {
  const { unfinished, keep } = useUnfinished();
  const keepSecrets = (secrets: { created?: string | null; pasted?: string | null }) =>
    keep(({ created, pasted }) => ({
      created: secrets.created === undefined ? created : withSecret(created, sourceNumber, secrets.created),
      pasted: secrets.pasted === undefined ? pasted : withSecret(pasted, sourceNumber, secrets.pasted),
    }));
  return {
    created: unfinished.created[sourceNumber] ?? null,
    pasted: unfinished.pasted[sourceNumber] ?? '',
    keepSecrets,
  };
}

function withSecret(secrets: Readonly<Record<number, string>>, sourceNumber: number, secret: string | null) {
  const { [sourceNumber]: _, ...others } = secrets;
  return secret === null || secret === '' ? others : { ...others, [sourceNumber]: secret };
}
