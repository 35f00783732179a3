import { useCallback, useSyncExternalStore } from 'react';
import { useAccountId, useSession } from '../../../../api/session.ts';
import type { SourcePreset } from '../../../../api/sources.ts';
import { CUSTOM_DEFAULTS, type CustomForm } from './custom-settings.ts';

/** What was entered for a source that is not connected yet. */
interface Unfinished {
  preset: SourcePreset;
  name: string;
  custom: CustomForm;
  /** Secrets that were created and are still shown, by the number of their source. */
  created: Readonly<Record<number, string>>;
  /** Secrets that were pasted and are not stored yet, by the number of their source. */
  pasted: Readonly<Record<number, string>>;
}

const NOTHING: Unfinished = { preset: 'shopify', name: '', custom: CUSTOM_DEFAULTS, created: {}, pasted: {} };

// In memory only, as there are secrets in it: signing out loads the page again. Of one user, as another one may sign in when a session ends.
let stored: { of: string; unfinished: Unfinished } = { of: '', unfinished: NOTHING };
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What was entered in the steps to a new source, also before another page was opened. `keep` replaces parts of it. */
export function useUnfinished() {
  const { email } = useSession();
  const of = `${useAccountId()} ${email}`;
  const unfinished = useSyncExternalStore(subscribe, () => (stored.of === of ? stored.unfinished : NOTHING));
  const keep = useCallback(
    (change: (unfinished: Unfinished) => Partial<Unfinished>) => {
      const before = stored.of === of ? stored.unfinished : NOTHING;
      stored = { of, unfinished: { ...before, ...change(before) } };
      for (const listener of listeners) listener();
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
