import { useQueryClient } from '@tanstack/react-query';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiProblem, call, isProblem } from '../../../api/client.ts';
import { useAccountId, useSession } from '../../../api/session.ts';
import {
  type Mappings,
  mappingsKey,
  type OrderMapping,
  type Source,
  usePreview,
  type Version,
} from '../../../api/sources.ts';
import { Button } from '../../../components/button.tsx';
import type { Draft } from '../../../components/drafts.ts';
import { Field } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { ProblemNote, Skeleton } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { Segments } from '../../../components/segments.tsx';
import { useAction } from '../../../components/use-action.ts';
import { useDebounced } from '../../../components/use-debounced.ts';
import { RedriveDialog } from '../../deliveries/redrive-dialog.tsx';
import { DeliveryChoice, useDeliveryChoice } from './delivery-choice.tsx';
import { DeliveryTree } from './delivery-tree.tsx';
import { FieldRow, rowId } from './field-row.tsx';
import { MappedOrder } from './mapped-order.tsx';
import {
  type Edited,
  FIELDS,
  type FieldName,
  fieldOf,
  fitsForm,
  formOf,
  insertPointer,
  isShown,
  mappingIn,
  pointerFor,
  readEdited,
  unedited,
} from './mapping-form.ts';
import { type MappingProblem, Problems, problemsOf } from './mapping-problems.tsx';

const VIEWS = ['form', 'json'] as const;
type View = (typeof VIEWS)[number];

/** A mapping that is edited as a form or as JSON, below what is wrong with a delivery, and beside it and the order made of it. */
export function MappingDraft(props: {
  source: Source;
  /** What the draft was made from, or is made from. */
  base: Version;
  draft: Draft | undefined;
  keep: (draft: Draft | null) => void;
  /** Somebody else saved a newer version than the one that the draft was made from. */
  isOutdated: boolean;
  /** The receipt of the delivery to begin with. */
  opened: string | null;
}): ReactNode {
  const { source, base, draft, keep } = props;
  const { t, i18n } = useTranslation(['sources', 'review']);
  const accountId = useAccountId();
  const { email } = useSession();
  const queryClient = useQueryClient();
  const { show } = useNotices();
  const [chosenView, setView] = useState<View>('form');
  const [rows, setRows] = useState<{ of: string; fields: readonly FieldName[] } | null>(null);
  const [isUnfolded, setUnfolded] = useState(false);
  const [isRedriving, setRedriving] = useState(false);
  const target = useRef<{ field: FieldName; index: number; element: HTMLElement } | null>(null);

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

  const choice = useDeliveryChoice(source.source_number, props.opened);
  const { text, delivery } = choice;
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
      ? problemsOf({ t, i18n }, { preview: preview.data, form, changed, document: choice.document })
      : errors.flatMap(({ pointer, code }) => {
          if (!pointer.startsWith('/mapping')) return [];
          const pointers = [pointer.slice('/mapping'.length) || '/'];
          return { field: fieldAt(pointer), text: t(`mappingError.${code}`), pointers };
        });
  const isSettled =
    paused === asked && !preview.isPlaceholderData && (preview.data !== undefined || problems.length > 0);
  // A row that was shown stays, so that nothing that is being edited disappears.
  const known = rows?.of === choice.chosen ? rows.fields : null;
  const wanted = FIELDS.filter((field) => changed.includes(field) || problems.some((one) => one.field === field));
  if (text !== '' && isSettled && (known === null || wanted.some((field) => !known.includes(field))))
    setRows({ of: choice.chosen, fields: [...(known ?? []), ...wanted] });
  const isKnown = rows !== null && text !== '';
  const isLoading = rows === null && (choice.isLoading || (text !== '' && mapping !== null && !preview.isError));
  const hasRow = (field: FieldName) => isShown(form, field);
  const folded = isKnown ? FIELDS.filter((field) => hasRow(field) && !rows.fields.includes(field)) : [];

  // The next step is to map the failed deliveries again once the saved mapping finds the id of the one that is shown.
  const isCorrected =
    !draft && isSettled && preview.data?.is_mapped === true && delivery?.error_code === 'mapping_failed';

  const changeView = (next: View): boolean => {
    if (next === view) return true;
    // What is no JSON, or not in the form, stays in its view, where its error shows.
    if (next === 'form' && !(mapping && fitsForm(mapping))) {
      show({ text: t('mapping.noForm'), kind: 'bad' });
      return false;
    }
    edit(next === 'form' ? { form } : { json: JSON.stringify(mapping, null, 2) });
    return true;
  };
  const go = (field: FieldName) => {
    if (!changeView('form')) return;
    setTimeout(() => {
      const row = document.getElementById(rowId(field));
      (row?.querySelector<HTMLElement>('input, textarea') ?? row?.querySelector('button'))?.focus();
    });
  };
  const pick = (pointer: string) => {
    const focused = target.current;
    if (!focused || view === 'json') return show({ text: t('delivery.noField'), kind: 'bad' });
    const { field, index, element } = focused;
    const candidate = form[field][index];
    const inserted = pointerFor(form, field, pointer);
    if (inserted === null) return show({ text: t('delivery.notInItem'), kind: 'bad' });
    if (candidate) edit({ form: { ...form, [field]: form[field].with(index, insertPointer(candidate, inserted)) } });
    element.focus();
  };
  const save = () => {
    if (!draft || !mapping || props.isOutdated) return;
    const body = { mapping: mapping as unknown as OrderMapping, version: Number(draft.seen) };
    saving.mutate({ text: draft.text, body });
  };
  return (
    <>
      <DeliveryChoice form={form} choice={choice} />
      {(problems.length > 0 || (isKnown && !preview.isError)) && (
        <Problems problems={problems} onGo={(field) => hasRow(field) && (() => go(field))} />
      )}
      {source.dead > 0 && (
        <div className="row">
          <p>{t(isCorrected ? 'mapping.corrected' : 'mapping.dead', { count: source.dead })}</p>
          <Button kind={isCorrected ? 'main' : undefined} onClick={() => setRedriving(true)}>
            {t('mapping.redrive')}
          </Button>
        </div>
      )}
      <Form className="mapping-parts" onSubmit={save}>
        <div className="stack">
          <div className="spread">
            <h3>{t('mapping.fields')}</h3>
            <Segments
              label={t('mapping.view')}
              hidesLabel
              options={VIEWS.map((value) => ({ value, name: t(`mapping.${value}`) }))}
              value={view}
              onChange={changeView}
            />
          </div>
          {isLoading && <Skeleton shape="rows" />}
          {!isLoading && edited.form && (
            <div className="mapping-form">
              {form.numberedItems && <p className="note">{t('mapping.numberedItems')}</p>}
              {FIELDS.filter(hasRow).map((field) => (
                <FieldRow
                  key={field}
                  field={field}
                  candidates={form[field]}
                  error={errorText(t, errors, field)}
                  hidden={!isUnfolded && folded.includes(field)}
                  onChange={(candidates) => edit({ form: { ...form, [field]: candidates } })}
                  onFocus={(index, element) => {
                    target.current = { field, index, element };
                    if (!isKnown) setUnfolded(true);
                  }}
                />
              ))}
              {folded.length > 0 && (
                <Button
                  kind="quiet"
                  Icon={isUnfolded ? ChevronUp : ChevronDown}
                  aria-expanded={isUnfolded}
                  onClick={() => setUnfolded(!isUnfolded)}
                >
                  {t('mapping.others', { count: folded.length })}
                </Button>
              )}
            </div>
          )}
          {!isLoading && !edited.form && (
            <Field
              label={t('mapping.json')}
              className="mono"
              dir="ltr"
              rows={24}
              spellCheck={false}
              value={edited.json}
              error={mapping ? null : t('mapping.noJson')}
              onChange={(json) => edit({ json })}
            />
          )}
          {saving.isError && !isProblem(saving.error, 'conflicting_state') && <ProblemNote error={saving.error} />}
          <div className="row mapping-save">
            <Button type="submit" kind="main" disabled={saving.isPending || !draft || !mapping || props.isOutdated}>
              {t('mapping.save')}
            </Button>
            <span className="hint">{t('mapping.saveHint')}</span>
          </div>
        </div>
        <div className="mapping-side">
          <section className="stack-tight" aria-labelledby="delivery-values">
            <h3 id="delivery-values">{t('delivery.values')}</h3>
            {delivery && choice.document === undefined && <p className="note">{t('delivery.unreadable')}</p>}
            {choice.document !== undefined && (
              <>
                <p className="hint">{t('delivery.pick')}</p>
                <DeliveryTree document={choice.document} onPick={pick} />
              </>
            )}
          </section>
          {text !== '' && <MappedOrder preview={preview} idPrefix={source.id_prefix} />}
        </div>
      </Form>
      {isRedriving && (
        <RedriveDialog
          path={`/accounts/${accountId}/dead-letters`}
          body={{ error_code: 'mapping_failed' }}
          onClose={() => setRedriving(false)}
        />
      )}
    </>
  );
}

/** The field of a broken rule. */
function fieldAt(pointer: string): FieldName | null {
  return pointer.startsWith('/mapping/') ? fieldOf(pointer.slice('/mapping'.length)) : null;
}

function errorText(t: (key: string) => string, errors: ApiProblem['errors'], field: FieldName): string | null {
  const found = errors.find(({ pointer }) => fieldAt(pointer) === field);
  return found ? t(`mappingError.${found.code}`) : null;
}
