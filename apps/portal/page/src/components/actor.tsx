import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { locale } from '../locales/index.ts';

/** The name of the API key `key:<name>`, or null for another actor. */
export const keyNameOf = (actor: string): string | null => /^key:(.+)$/.exec(actor)?.[1] ?? null;

/**
 * An API key, a source, `source:<name>`, a person of the command line, `operator:<name>`, or somebody who is not signed in,
 * `network:<hash>`, in words; null for an e-mail address.
 */
export function actorText(t: TFunction, actor: string): string | null {
  const [, kind, name] = /^(key|source|network|operator):(.+)$/.exec(actor) ?? [];
  if (kind === undefined) return null;
  return t(`common:actor.${kind === 'operator' ? 'commandLine' : kind}`, { name, hash: name });
}

/** Who did something. */
export function Actor({ actor }: { actor: string }): ReactNode {
  const { t } = useTranslation();
  const text = actorText(t, actor);
  return text === null ? <bdi dir="ltr">{actor}</bdi> : <bdi>{text}</bdi>;
}

/** Joins names of people in the page's language. Each keeps its own direction (Unicode isolates). */
export function joinNames(names: readonly string[]): string {
  return new Intl.ListFormat(locale()).format(names.map((name) => `\u2068${name}\u2069`));
}
