import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiProblem, call, isProblem } from '../../../api/client.ts';
import { useAccountId } from '../../../api/session.ts';
import { type OrderMapping, type Source, useDeliveries, usePreview } from '../../../api/sources.ts';
import { Button } from '../../../components/button.tsx';
import { Mono } from '../../../components/card.tsx';
import { FieldError } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { Segments } from '../../../components/segments.tsx';
import { useAction } from '../../../components/use-action.ts';
import { useDebounced } from '../../../components/use-debounced.ts';
import { DeliveryPanel, OWN_EXAMPLE } from './delivery-panel.tsx';
import { FieldRow } from './field-row.tsx';
import { MappedOrder } from './mapped-order.tsx';
import {
  FIELDS,
  type FieldName,
  fitsForm,
  formOf,
  insertPointer,
  isInJsonOnly,
  type MappingForm,
  mappingOf,
  pointerFor,
} from './mapping-form.ts';

const VIEWS = ['form', 'json'] as const;

/** A mapping that is edited as a form or as JSON, with a delivery and the order made of it. */
export function MappingDraft(props: { source: Source; saved: OrderMapping; onSaved: () => void }): ReactNode {
  const { source, saved, onSaved } = props;
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const { show } = useNotices();
  const [view, setView] = useState<(typeof VIEWS)[number]>('form');
  const [form, setForm] = useState<MappingForm>(() => formOf(saved));
  const [json, setJson] = useState('');
  const target = useRef<{ field: FieldName; index: number; element: HTMLElement } | null>(null);
  const mapping = useMemo(() => (view === 'form' ? mappingOf(form) : parseObject(json)), [view, form, json]);
  const delivery = useDeliveryChoice(source.source_number);

  const paused = useDebounced(JSON.stringify([mapping, delivery.text]));
  const [pausedMapping, pausedText] = useMemo(() => JSON.parse(paused) as [unknown, string], [paused]);
  const preview = usePreview(accountId, pausedMapping, pausedText);
  const saving = useAction({
    mutationFn: () =>
      call('PUT', `/accounts/${accountId}/sources/${source.source_number}/mapping`, { body: { mapping } }),
    onSuccess: async () => {
      show({ text: t('mapping.saved') });
      await queryClient.invalidateQueries({ queryKey: ['sources', accountId] });
      onSaved();
    },
  });
  const errors = [preview.error, saving.error].flatMap((error) =>
    isProblem(error, 'invalid_request') ? error.errors : [],
  );

  const changeView = (next: (typeof VIEWS)[number]) => {
    if (next === view) return;
    if (next === 'json') setJson(JSON.stringify(mapping, null, 2));
    // What is no JSON stays in its view, where its error shows.
    else if (mapping && fitsForm(mapping)) setForm(formOf(mapping as unknown as OrderMapping));
    else return show({ text: t('mapping.noForm'), kind: 'bad' });
    setView(next);
  };
  const pick = (pointer: string) => {
    const focused = target.current;
    if (!focused || view === 'json') return show({ text: t('delivery.noField'), kind: 'bad' });
    const { field, index, element } = focused;
    const candidate = form[field][index];
    const inserted = pointerFor(form, field, pointer);
    if (inserted === null) return show({ text: t('delivery.notInItem'), kind: 'bad' });
    if (candidate) setForm({ ...form, [field]: form[field].with(index, insertPointer(candidate, inserted)) });
    element.focus();
  };
  return (
    <Form className="mapping-parts" action={saving}>
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
        {view === 'form' ? (
          <div className="mapping-form">
            {form.numberedItems && <p className="note">{t('mapping.numberedItems')}</p>}
            {FIELDS.filter((field) => isShown(form, field)).map((field) => (
              <FieldRow
                key={field}
                field={field}
                candidates={form[field]}
                error={errorText(t, errors, field)}
                onChange={(candidates) => setForm({ ...form, [field]: candidates })}
                onFocus={(index, element) => {
                  target.current = { field, index, element };
                }}
              />
            ))}
            <Errors errors={errors.filter(({ pointer }) => !FIELDS.some((field) => isAt(pointer, field)))} />
          </div>
        ) : (
          <JsonView json={json} isBroken={mapping === null} errors={errors} onChange={setJson} />
        )}
        {saving.isError && <ProblemNote error={saving.error} />}
        <div className="row mapping-save">
          <Button type="submit" kind="main" disabled={saving.isPending || mapping === null}>
            {t('mapping.save')}
          </Button>
          <span className="hint">{t('mapping.saveHint')}</span>
        </div>
      </div>
      <div className="mapping-side">
        <DeliveryPanel {...delivery} onPick={pick} />
        {delivery.text !== '' && <MappedOrder preview={preview} idPrefix={source.id_prefix} />}
      </div>
    </Form>
  );
}

/** The newest delivery until the user chooses another one or pastes an example. */
/** Fields that the form has no use for are left out. */
function isShown(form: MappingForm, field: FieldName): boolean {
  if (form.numberedItems && field.startsWith('items/')) return false;
  return !isInJsonOnly(field) || form[field].length > 0;
}

function useDeliveryChoice(sourceNumber: number) {
  const { data: deliveries = [] } = useDeliveries(useAccountId(), sourceNumber);
  const [wanted, setWanted] = useState<string | null>(null);
  const [first, setFirst] = useState<string | null>(null);
  const [own, setOwn] = useState('');
  const [newest] = deliveries;
  // The first one seen stays, so that what the user works with is not replaced by a newer one.
  if (first === null && newest) setFirst(newest.receipt_id);
  const chosen = wanted ?? first ?? OWN_EXAMPLE;
  const found = deliveries.find(({ receipt_id }) => receipt_id === chosen);
  const text = chosen === OWN_EXAMPLE ? own : (found?.raw ?? '');
  return { deliveries, chosen, text, onChoose: setWanted, onText: setOwn };
}

function JsonView(props: {
  json: string;
  isBroken: boolean;
  errors: ApiProblem['errors'];
  onChange: (json: string) => void;
}): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <div className="stack-tight">
      <textarea
        className="mono"
        dir="ltr"
        aria-label={t('mapping.json')}
        aria-invalid={props.isBroken ? true : undefined}
        rows={24}
        spellCheck={false}
        value={props.json}
        onInput={(event) => props.onChange(event.currentTarget.value)}
      />
      <FieldError text={props.isBroken && t('mapping.noJson')} />
      <Errors errors={props.errors} />
    </div>
  );
}

/** Broken rules with their pointers. */
function Errors({ errors }: { errors: ApiProblem['errors'] }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <ul className="plain field-error">
      {errors
        .filter(({ pointer }) => pointer.startsWith('/mapping'))
        .map(({ pointer, code }) => (
          <li key={pointer + code}>
            <Mono>{pointer.replace(/^\/mapping/, '') || '/'}</Mono> {t(`mappingError.${code}`)}
          </li>
        ))}
    </ul>
  );
}

function isAt(pointer: string, field: FieldName): boolean {
  return pointer === `/mapping/${field}` || pointer.startsWith(`/mapping/${field}/`);
}

function errorText(t: (key: string) => string, errors: ApiProblem['errors'], field: FieldName): string | null {
  const found = errors.find(({ pointer }) => isAt(pointer, field));
  return found ? t(`mappingError.${found.code}`) : null;
}

function parseObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
