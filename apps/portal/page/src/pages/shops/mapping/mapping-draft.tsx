import { ChevronDown, ChevronUp } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import { useAccountId } from '../../../api/session.ts';
import { Button } from '../../../components/button.tsx';
import { Field } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { ProblemNote, Skeleton } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { Segments } from '../../../components/segments.tsx';
import { RedriveDialog } from '../../deliveries/redrive-dialog.tsx';
import { DeliveryChoice, useDeliveryChoice } from './delivery-choice.tsx';
import { DeliveryTree } from './delivery-tree.tsx';
import { FieldRow, rowId } from './field-row.tsx';
import { MappedOrder } from './mapped-order.tsx';
import { FIELDS, type FieldName, fitsForm, insertPointer, isShown, pointerFor } from './mapping-form.ts';
import { Problems } from './mapping-problems.tsx';
import { type DraftProps, useMappingDraft } from './use-mapping-draft.ts';

const VIEWS = ['form', 'json'] as const;
type View = (typeof VIEWS)[number];

/** A mapping that is edited as a form or as JSON, below what is wrong with a delivery, and beside it and the order made of it. */
export function MappingDraft(
  props: DraftProps & {
    /** The receipt of the delivery to begin with. */
    opened: string | null;
  },
): ReactNode {
  const { source, draft } = props;
  const { t } = useTranslation(['sources', 'review']);
  const accountId = useAccountId();
  const { show } = useNotices();
  const [rows, setRows] = useState<{ of: string; fields: readonly FieldName[] } | null>(null);
  const [isUnfolded, setUnfolded] = useState(false);
  const [isRedriving, setRedriving] = useState(false);
  const target = useRef<{ field: FieldName; index: number; element: HTMLElement } | null>(null);

  const choice = useDeliveryChoice(source.source_number, props.opened);
  const { text, delivery } = choice;
  const { edited, view, form, mapping, edit, preview, changed, problems, isSettled, saving, ...mapped } =
    useMappingDraft(props, choice);
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
      <Form className="mapping-parts" onSubmit={mapped.save}>
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
                  error={mapped.errorOf(field)}
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
            <Button type="submit" kind="main" disabled={!mapped.canSave}>
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
