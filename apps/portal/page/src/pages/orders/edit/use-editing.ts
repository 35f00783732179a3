import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import type { OrderDetail } from '../../../api/review.ts';
import { useDrafts } from '../../../components/drafts.ts';
import { FIRST_WARNED } from '../name-of-order.ts';
import { firstWarnedField } from '../order/fields.ts';
import type { Editing } from './editing.ts';
import { useOrderEdits } from './use-order-edits.ts';

/**
 * The editors of the open order and their drafts.
 *
 * @param props.wanted the pointer of the field to edit, or `FIRST_WARNED`, which is resolved once the order is loaded.
 */
export function useEditing(props: {
  orderId: number;
  detail: UseQueryResult<OrderDetail>;
  isEditable: boolean;
  wanted: string | null;
  onEdit: (pointer: string | null) => void;
  accept: (changed: OrderDetail) => Promise<void>;
  reload: () => Promise<OrderDetail | undefined>;
}): Editing {
  const { orderId, detail, isEditable, wanted, onEdit, accept, reload } = props;
  const { drafts, keep } = useDrafts(orderId);
  const save = useOrderEdits({ orderId, order: detail.data?.order, drafts, keep, accept, reload });
  // The list does not contain warnings, so this waits for the full order.
  const resolveFirst = useEffectEvent((loaded: OrderDetail | undefined) =>
    onEdit(loaded ? firstWarnedField(loaded.order) : null),
  );
  useEffect(() => {
    if (wanted === FIRST_WARNED && (detail.data || detail.isError)) resolveFirst(detail.data);
  }, [wanted, detail.data, detail.isError]);
  const isErased = detail.data !== undefined && detail.data.erased_at !== null;
  useEffect(() => {
    if (isErased) for (const pointer of Object.keys(drafts)) keep(pointer, null);
  }, [isErased, drafts, keep]);
  return {
    pointer: isEditable && wanted !== FIRST_WARNED ? wanted : null,
    begin: isEditable ? onEdit : null,
    end: () => onEdit(null),
    drafts,
    keep,
    save,
  };
}
