import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import { type Edits, type Expected, editOrder, type Order, type OrderDetail } from '../../../api/review.ts';
import { useAccountId } from '../../../api/session.ts';
import type { Drafts } from '../../../components/drafts.ts';
import { useNotices } from '../../../components/notices.tsx';
import { fieldLabel, fieldText, valueAt } from '../../../components/order-values.ts';
import { useShowProblem } from '../../../components/use-show-problem.ts';
import { NEW_ITEM } from '../order/fields.ts';
import type { Editing } from './editing.ts';
import { expectedItem } from './item-editor.tsx';

/** A notice is cut after this. */
const MAX_TEXT = 60;
const ITEM = /^\/items\/(\d+|-)$/;

/** Saves edits of an order, each with a notice that names it and offers to take it back. */
export function useOrderEdits(props: {
  orderId: number;
  order: Order | undefined;
  drafts: Drafts;
  keep: Editing['keep'];
  accept: (changed: OrderDetail) => Promise<void>;
  /** Loads the order again after a conflict. */
  reload: () => Promise<OrderDetail | undefined>;
}): Editing['save'] {
  const { orderId, order: before, drafts, keep, accept, reload } = props;
  const { t } = useTranslation('review');
  const accountId = useAccountId();
  const showProblem = useShowProblem();
  const notices = useNotices();

  async function takeBack(undo: Edits, changed: Order): Promise<void> {
    try {
      await accept(await editOrder(accountId, orderId, undo, expectedBefore(undo, changed)));
      notices.show({ text: t('notice.editUndone') });
    } catch (error) {
      showProblem(error);
      if (isProblem(error, 'conflicting_state')) await reload();
    }
  }

  return async (edits, expected) => {
    try {
      const { undo, ...changed } = await editOrder(accountId, orderId, edits, expected);
      await accept(changed);
      for (const pointer of Object.keys(drafts)) if (isEdited(pointer, edits)) keep(pointer, null);
      notices.show({
        text: describe(edits, changed.order),
        durationMs: 8000,
        ...(Object.keys(undo).length > 0 && {
          action: { label: t('common:action.undo'), run: () => void takeBack(undo, changed.order) },
        }),
      });
    } catch (error) {
      if (isProblem(error, 'conflicting_state')) {
        const now = await reload();
        if (!now || !isShownInEditor(now, edits)) showProblem(error);
      }
      throw error;
    }
  };

  /** The editor of a value that somebody else changed shows both. */
  function isShownInEditor({ review, order }: OrderDetail, edits: Edits): boolean {
    const isOther = (pointer: string) => {
      const draft = drafts[pointer];
      return draft !== undefined && draft.seen !== valueAt(order, pointer);
    };
    return review.state === 'needs_review' && Object.keys(edits).some(isOther);
  }

  function describe(edits: Edits, after: Order): string {
    const [pointer = '', ...others] = Object.keys(edits);
    const value = edits[pointer];
    if (pointer === NEW_ITEM) return t('notice.itemAdded', { item: nameOf(value) });
    if (ITEM.test(pointer)) return t('notice.itemRemoved', { item: nameOf(before && valueAt(before, pointer)) });
    if (others.length > 0)
      return t('notice.itemChanged', { item: nameOf(valueAt(after, pointer.replace(/\/\w+$/, ''))) });
    const field = fieldLabel(t, pointer);
    if (value === null) return t('notice.emptied', { field });
    const text = fieldText(t, pointer, valueAt(after, pointer));
    return t('notice.changed', { field, value: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text });
  }

  function nameOf(item: unknown): string {
    const { name, sku } = (item ?? {}) as { name?: string | null; sku?: string | null };
    return name ?? sku ?? '–';
  }
}

/** Whether edits set the field of a draft; a new or removed item takes the drafts of its members along. */
function isEdited(draft: string, edits: Edits): boolean {
  return Object.keys(edits).some(
    (pointer) => draft === pointer || (ITEM.test(pointer) && draft.startsWith(`${pointer}/`)),
  );
}

/** The values that an undo replaces, so that it does not overwrite a later change by somebody else. */
function expectedBefore(undo: Edits, order: Order): Expected {
  const entries = Object.entries(undo).flatMap(([pointer, value]): [string, Expected[string]][] => {
    if (!ITEM.test(pointer)) return [[pointer, valueAt(order, pointer) as Expected[string]]];
    const item = order.items[Number(pointer.slice('/items/'.length))];
    // An item that is put back replaces nothing.
    return value === null && item ? Object.entries(expectedItem(pointer, item)) : [];
  });
  return Object.fromEntries(entries);
}
