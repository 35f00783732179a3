import { Pencil } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { OrderDetail } from '../../../api/review.ts';
import { actorText } from '../../../components/actor.tsx';
import { fieldText } from '../../../components/order-values.ts';
import { fullTime } from '../../../components/time.tsx';

/** The last change of a field after the order was written. */
export interface FieldChange {
  by: string;
  at: string;
  /** The value before. */
  before: unknown;
}

/** By pointer, the last change of each field; of the items, which move, only that there was one. */
export function changesByField(history: OrderDetail['history']): ReadonlyMap<string, FieldChange> {
  const changes = new Map<string, FieldChange>();
  for (const { by, at, changes: changed } of history) {
    for (const { pointer, before } of changed ?? []) {
      const field = pointer.startsWith('/items') ? '/items' : pointer;
      if (!changes.has(field)) changes.set(field, { by, at, before });
    }
  }
  return changes;
}

/** Who changed a field, and what it was before. */
export function FieldChangeNote(props: { pointer: string; change: FieldChange | undefined }): ReactNode {
  const { pointer, change } = props;
  const { t } = useTranslation('review');
  if (!change) return null;
  const { by, at, before } = change;
  const actor = actorText(t, by) ?? `\u2068${by}\u2069`;
  const text =
    typeof before === 'string'
      ? t('field.changedFrom', { actor, before: `\u2068${fieldText(t, pointer, before)}\u2069` })
      : t(before === null ? 'field.filledIn' : 'field.changed', { actor });
  return (
    <p className="hint field-change" title={fullTime(at)}>
      <Pencil aria-hidden="true" size={12} />
      <span>{text}</span>
    </p>
  );
}
