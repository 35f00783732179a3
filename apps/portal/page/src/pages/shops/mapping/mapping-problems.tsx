import { valueAt } from '@orders/domain/sources/json-pointer.ts';
import type { i18n, TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Preview } from '../../../api/sources.ts';
import { Button } from '../../../components/button.tsx';
import { Mono } from '../../../components/card.tsx';
import { warningText } from '../../../components/order-values.ts';
import { fieldName } from './field-row.tsx';
import { type FieldName, fieldOf, type MappingForm } from './mapping-form.ts';

/** Something that is wrong with a delivery under a mapping. */
export interface MappingProblem {
  /** Null if no field of the form is about it. */
  field: FieldName | null;
  text: string;
  /** What the text is about. */
  pointers?: string[];
}

/** Without these, an order cannot be delivered, or is not complete. */
const IMPORTANT = ['/customer/name', '/customer/phone', '/address', '/emirate', '/items', '/total'];
const MAX_POINTERS = 3;

/** The pointers of a field as edited; null if it also takes something else. */
function pointersOf(form: MappingForm, field: FieldName): string[] | null {
  const pointers = form[field].map((candidate) => {
    if (candidate.kind === 'pointer') return candidate.pointer;
    return candidate.kind === 'join' ? candidate.parts.split(/\n| \| /) : null;
  });
  return pointers.includes(null) ? null : pointers.flatMap((found) => found ?? []).filter((pointer) => pointer !== '');
}

/** The first value to which a pointer of a field leads in a delivery, or null. */
export function firstValue(form: MappingForm, field: FieldName, document: unknown): unknown {
  const isInItem = field.startsWith('items/') && field !== 'items/list';
  const lists = isInItem ? (pointersOf(form, 'items/list') ?? []) : [];
  const documents = isInItem ? lists.flatMap((list) => Object.values(valueAt(document, list) ?? {})) : [document];
  const isValue = (value: unknown) =>
    field === 'items/list' ? typeof value === 'object' : ['string', 'number'].includes(typeof value) && value !== '';
  const values = (pointersOf(form, field) ?? []).flatMap((pointer) => documents.map((one) => valueAt(one, pointer)));
  return values.find((value) => value !== null && isValue(value)) ?? null;
}

/** No order id, no value where one is expected or was just chosen, and warnings that a person should look at. */
export function problemsOf(
  { t, i18n }: { t: TFunction; i18n: i18n },
  about: { preview: Preview; form: MappingForm; changed: readonly FieldName[]; document: unknown },
): MappingProblem[] {
  const { form, changed, document } = about;
  const { order, warnings, is_mapped } = about.preview;
  const toCheck = warnings
    .filter(({ severity }) => severity === 'check')
    .map((warning) => ({ field: fieldOf(warning.pointer), text: warningText({ t, i18n }, warning) }));
  const isEmpty = (value: unknown) => value === null || value === undefined || (Array.isArray(value) && !value[0]);
  const absent = IMPORTANT.filter((pointer) => isEmpty(valueAt(order, pointer))).flatMap((at) => fieldOf(at) ?? []);
  const deadEnds = (field: FieldName) => (firstValue(form, field, document) === null ? pointersOf(form, field) : null);
  const isMisled = (field: FieldName) => Boolean(deadEnds(field)?.length);
  const expected = [...(is_mapped ? [] : (['source_order_id'] as const)), ...absent, ...changed.filter(isMisled)];
  const without = [...new Set(expected)].map((field) => {
    const pointers = deadEnds(field) ?? [];
    const why = form[field].length === 0 && !form.numberedItems ? 'wrong.notMapped' : 'wrong.noValue';
    const reason = pointers.length > 0 ? t('wrong.nothingAt') : '';
    const isId = field === 'source_order_id' && !is_mapped;
    return { field, pointers, text: isId ? `${t('order.noId')} ${reason}` : reason || t(why) };
  });
  const isWarnedOf = (field: FieldName) => field !== 'source_order_id' && toCheck.some((one) => one.field === field);
  const all = [...without.filter(({ field }) => !isWarnedOf(field)), ...toCheck];
  // A list of items has the same problem many times.
  return [...new Map(all.map((problem) => [`${problem.field} ${problem.text}`, problem])).values()];
}

/** What is wrong. @param props.onGo what goes to a field. */
export function Problems(props: {
  problems: readonly MappingProblem[];
  onGo?: (field: FieldName) => (() => void) | false;
}): ReactNode {
  const { problems, onGo } = props;
  const { t } = useTranslation(['sources', 'review']);
  const count = problems.length;
  return (
    <div className={`note mapping-problems ${count === 0 ? '' : 'note-warn'}`}>
      <p role="status">{count === 0 ? t('wrong.nothing') : t('wrong.title', { count })}</p>
      <ul className="plain stack-tight">
        {problems.map(({ field, text, pointers = [] }) => {
          const label = field && fieldName(t, field);
          const go = field !== null && onGo?.(field);
          return (
            <li key={`${field} ${text}`} className="row">
              <span>
                {label && <strong>{label}:</strong>} {text}{' '}
                {pointers.length > 0 && <Mono>{pointers.slice(0, MAX_POINTERS).join(' ')}</Mono>}
              </span>
              {go && (
                <Button className="button-small" aria-label={t('wrong.goToField', { field: label })} onClick={go}>
                  {t('wrong.goTo')}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
