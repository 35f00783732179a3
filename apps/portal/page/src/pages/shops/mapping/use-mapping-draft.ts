import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../../api/client.ts';
import { useAccountId, useSession } from '../../../api/session.ts';
import {
  type Mappings,
  mappingsKey,
  type OrderMapping,
  type Source,
  usePreview,
  type Version,
} from '../../../api/sources.ts';
import type { Draft } from '../../../components/drafts.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useAction } from '../../../components/use-action.ts';
import { useDebounced } from '../../../components/use-debounced.ts';
import {
  type Edited,
  FIELDS,
  type FieldName,
  fieldOf,
  formOf,
  mappingIn,
  readEdited,
  unedited,
} from './mapping-form.ts';
import { type MappingProblem, problemsOf } from './mapping-problems.tsx';

export interface DraftProps {
  source: Source;
  /** What the draft was made from, or is made from. */
  base: Version;
  draft: Draft | undefined;
  keep: (draft: Draft | null) => void;
  /** Somebody else saved a newer version than the one that the draft was made from. */
  isOutdated: boolean;
}

/** A mapping as it is edited, the order that it makes of a delivery with what is wrong with it, and the way to save it. */
export function useMappingDraft(props: DraftProps, { text, document }: { text: string; document: unknown }) {
  const { source, base, draft, keep } = props;
  const { t, i18n } = useTranslation(['sources', 'review']);
  const accountId = useAccountId();
  const { email } = useSession();
  const queryClient = useQueryClient();
  const { show } = useNotices();
  const [chosenView, setView] = useState<'form' | 'json'>('form');
  const saved = useMemo(() => formOf(base.mapping), [base.mapping]);
  const edited = useMemo(
    () => (draft ? readEdited(draft.text) : unedited(saved, chosenView)),
    [draft, saved, chosenView],
  );
  const view = edited.form ? 'form' : 'json';
  const mapping = useMemo(() => mappingIn(edited), [edited]);
  const form = useMemo(() => edited.form ?? formOf((mapping ?? {}) as unknown as OrderMapping), [edited, mapping]);
  const edit = (next: Edited) => {
    const nextView = next.form ? 'form' : 'json';
    setView(nextView);
    const text = JSON.stringify(next);
    const isUnchanged = text === JSON.stringify(unedited(saved, nextView));
    keep(isUnchanged ? null : { text, seen: draft?.seen ?? base.version });
  };

  const asked = JSON.stringify([mapping, text]);
  const paused = useDebounced(asked);
  const [pausedMapping, pausedText] = useMemo(() => JSON.parse(paused) as [unknown, string], [paused]);
  const preview = usePreview(accountId, pausedMapping, pausedText);
  const saving = useAction({
    mutationFn: ({ body }: { text: string; body: { mapping: OrderMapping; version: number } }) =>
      // The reply has no version if it was cut off.
      call<{ mapping_version?: number }>('PUT', `/accounts/${accountId}/sources/${source.source_number}/mapping`, {
        body,
      }),
    onSuccess: async ({ mapping_version: version }, sent) => {
      show({ text: t('mapping.saved') });
      if (version !== undefined) {
        const added = { version, mapping: sent.body.mapping, created_at: new Date().toISOString(), created_by: email };
        queryClient.setQueryData<Mappings>(mappingsKey(accountId, source.source_number), (all) => ({
          mappings: [added, ...(all?.mappings ?? [])],
        }));
        // What was typed meanwhile is a change of the new version.
        keep(draft && draft.text !== sent.text ? { text: draft.text, seen: version } : null);
      }
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
    },
    onError: (error) => {
      if (isProblem(error, 'conflicting_state'))
        void queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
    },
  });
  const errors = [preview.error, saving.error].flatMap((error) =>
    isProblem(error, 'invalid_request') ? error.errors : [],
  );

  const changed = FIELDS.filter((field) => JSON.stringify(form[field]) !== JSON.stringify(saved[field]));
  const problems: MappingProblem[] =
    preview.data && !preview.isError
      ? problemsOf({ t, i18n }, { preview: preview.data, form, changed, document })
      : errors.flatMap(({ pointer, code }) => {
          if (!pointer.startsWith('/mapping')) return [];
          const pointers = [pointer.slice('/mapping'.length) || '/'];
          return { field: fieldAt(pointer), text: t(`mappingError.${code}`), pointers };
        });
  const isSettled =
    paused === asked && !preview.isPlaceholderData && (preview.data !== undefined || problems.length > 0);
  const save = () => {
    if (!draft || !mapping || props.isOutdated) return;
    const body = { mapping: mapping as unknown as OrderMapping, version: Number(draft.seen) };
    saving.mutate({ text: draft.text, body });
  };
  const canSave = !saving.isPending && draft !== undefined && mapping !== null && !props.isOutdated;
  /** Why the service rejects what a field takes. */
  const errorOf = (field: FieldName) => {
    const found = errors.find(({ pointer }) => fieldAt(pointer) === field);
    return found ? t(`mappingError.${found.code}`) : null;
  };
  return {
    edited,
    view,
    form,
    mapping,
    edit,
    preview,
    changed,
    problems,
    errorOf,
    isSettled,
    saving,
    canSave,
    save,
  } as const;
}

/** The field of a broken rule. */
function fieldAt(pointer: string): FieldName | null {
  return pointer.startsWith('/mapping/') ? fieldOf(pointer.slice('/mapping'.length)) : null;
}
