import { useCallback } from 'react';
import type { FieldValue } from '../api/review.ts';
import { useSession } from '../api/session.ts';
import { createStore } from './store.ts';
import { createUnloadGuard } from './unload-guard.ts';

/** A value that is typed but not saved. */
export interface Draft {
  text: string;
  /** The stored value when typing began, or the version of a mapping. If it is another one now, somebody else changed it. */
  seen: FieldValue;
}

/** The drafts of one order by the JSON pointer of their field, or `NOTE`; of a source, `MAPPING`. */
export type Drafts = Readonly<Record<string, Draft>>;

/** The key of a new note's draft. */
export const NOTE = 'note';

/** The key of a mapping's draft. */
export const MAPPING = 'mapping';

/** An order by its id, or a source. */
type Subject = number | string;

export const sourceSubject = (accountId: number, sourceNumber: number): Subject => `${accountId}/${sourceNumber}`;

interface Stored {
  /** The e-mail address of the user who typed; nobody else sees the drafts. */
  owner: string;
  subjects: Record<Subject, Drafts>;
}

const STORED = 'drafts';
const NONE: Drafts = {};

const stored = createStore(read());
// Closing the tab loses the drafts.
const guardUnload = createUnloadGuard();
guardUnload(hasDrafts());

/** Session storage keeps drafts over a reload and a new sign-in in this tab. */
function read(): Stored {
  try {
    const found: Stored | null = JSON.parse(sessionStorage.getItem(STORED) ?? 'null');
    if (found?.owner && found.subjects) return found;
  } catch {
    // Not written by this version of the page.
  }
  return { owner: '', subjects: {} };
}

function write(changed: Stored): void {
  stored.set(changed);
  if (hasDrafts()) sessionStorage.setItem(STORED, JSON.stringify(changed));
  else sessionStorage.removeItem(STORED);
  guardUnload(hasDrafts());
}

function hasDrafts(): boolean {
  return Object.keys(stored.get().subjects).length > 0;
}

function draftsOf(owner: string, subject: Subject): Drafts {
  const all = stored.get();
  return (all.owner === owner && all.subjects[subject]) || NONE;
}

/** Drops all drafts, for the end of a session on a shared computer. */
export function clearDrafts(): void {
  write({ owner: '', subjects: {} });
}

/** The user's drafts of an order, or of a source. `keep` stores one, or drops it with null. */
export function useDrafts(subject: Subject) {
  const { email } = useSession();
  const drafts = stored.use(() => draftsOf(email, subject));
  const keep = useCallback(
    (pointer: string, draft: Draft | null) => {
      const { [pointer]: _, ...others } = draftsOf(email, subject);
      const changed: Drafts = draft ? { ...others, [pointer]: draft } : others;
      const { owner, subjects: all } = stored.get();
      const subjects = { ...(owner === email && all) };
      if (Object.keys(changed).length > 0) subjects[subject] = changed;
      else delete subjects[subject];
      write({ owner: email, subjects });
    },
    [email, subject],
  );
  return { drafts, keep };
}

/** Whether fields of an order have unsaved changes. Notes do not count: they can be added to a decided order. */
export function useUnsavedEdits(): (orderId: number) => boolean {
  const { email } = useSession();
  return (orderId) => Object.keys(draftsOf(email, orderId)).some((pointer) => pointer !== NOTE);
}
