import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../../api/review.ts';
import { IconButton } from '../../../components/button.tsx';
import { FieldError } from '../../../components/field.tsx';
import { formatCount } from '../../../components/numbers.ts';
import { type Editing, useEditProblem, useSave } from '../edit/editing.ts';
import { DraftNote } from '../edit/editor-parts.tsx';
import { EditButton, useRestoreFocus } from '../edit/field-row.tsx';
import { draftText, expectedItem, type Item, ItemEditor } from '../edit/item-editor.tsx';
import { NEW_ITEM } from './fields.ts';
import { WarningNotes } from './warning-notes.tsx';

/**
 * The items of an order.
 *
 * @param props.count the total; a long order shows only its first items.
 */
export function ItemsTable(props: {
  items: Item[];
  count: number;
  warned: Map<string, Warning[]>;
  editing: Editing;
}): ReactNode {
  const { items, count, warned, editing } = props;
  const { t } = useTranslation('review');
  return (
    <section className="stack-tight">
      <h3>{t('field.items')}</h3>
      {count === 0 && <p className="missing missing-blocks">{t('field.noItems')}</p>}
      {items.length < count && (
        <p className="hint">{t('field.itemsShown', { shown: formatCount(items.length), all: formatCount(count) })}</p>
      )}
      {items.length > 0 && (
        <table className="table items">
          <thead>
            <tr>
              <th scope="col">{t('item.quantity')}</th>
              <th scope="col">{t('item.name')}</th>
              <th scope="col">{t('item.sku')}</th>
              <th scope="col">
                <span className="visually-hidden">{t('item.actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((item, index) => (
              <ItemRow
                // biome-ignore lint/suspicious/noArrayIndexKey: an item has no identity but its index.
                key={index}
                item={item}
                pointer={`/items/${index}`}
                warnings={warned.get(`/items/${index}`)}
                editing={editing}
              />
            ))}
          </tbody>
        </table>
      )}
      <NewItem editing={editing} />
      <WarningNotes warnings={warned.get('/items')} />
    </section>
  );
}

function ItemRow(props: { item: Item; pointer: string; warnings: Warning[] | undefined; editing: Editing }): ReactNode {
  const { item, pointer, warnings, editing } = props;
  const { t } = useTranslation('review');
  const isEdited = editing.pointer === pointer;
  const container = useRestoreFocus<HTMLTableRowElement>(isEdited);
  const label = item.name ?? item.sku ?? t('field.items');
  return (
    <>
      <tr ref={container} className={warnings ? 'item-warned' : undefined}>
        {isEdited ? (
          <td colSpan={4}>
            <ItemEditor item={item} pointer={pointer} editing={editing} />
          </td>
        ) : (
          <>
            <td className="item-quantity">{item.quantity ?? <Missing />}</td>
            <td>
              <bdi>{item.name ?? '–'}</bdi>
              <ItemDraft pointer={pointer} editing={editing} />
            </td>
            <td>
              <bdi dir="ltr">{item.sku ?? '–'}</bdi>
            </td>
            <td className="item-edit">
              <EditButton pointer={pointer} label={label} editing={editing} />
              <RemoveButton item={item} pointer={pointer} label={label} editing={editing} />
            </td>
          </>
        )}
      </tr>
      {warnings && (
        <tr>
          <td colSpan={4}>
            <WarningNotes warnings={warnings} />
          </td>
        </tr>
      )}
    </>
  );
}

function Missing(): ReactNode {
  const { t } = useTranslation('review');
  return (
    <span className="missing missing-check">
      <span aria-hidden="true">–</span>
      <span className="visually-hidden">{t('field.missing')}</span>
    </span>
  );
}

function ItemDraft({ pointer, editing }: { pointer: string; editing: Editing }): ReactNode {
  const text = draftText(editing.drafts, pointer);
  const { begin } = editing;
  if (text === null) return null;
  return (
    <DraftNote
      text={text}
      pointer={pointer}
      onContinue={begin && (() => begin(pointer))}
      onDiscard={() => {
        for (const draft of Object.keys(editing.drafts)) if (draft.startsWith(`${pointer}/`)) editing.keep(draft, null);
      }}
    />
  );
}

function RemoveButton(props: { item: Item; pointer: string; label: string; editing: Editing }): ReactNode {
  const { item, pointer, label, editing } = props;
  const { t } = useTranslation('review');
  const saving = useSave(editing);
  const problem = useEditProblem()(saving.error);
  if (!editing.begin) return null;
  return (
    <>
      <IconButton
        className="edit-button"
        label={t('item.remove', { item: label })}
        Icon={Trash2}
        size={15}
        onClick={() => saving.run({ [pointer]: null }, expectedItem(pointer, item))}
      />
      <FieldError text={problem} />
    </>
  );
}

const NO_ITEM: Item = { name: null, quantity: null, sku: null };

/** Adds an item; the button gets the focus back. */
function NewItem({ editing }: { editing: Editing }): ReactNode {
  const { t } = useTranslation('review');
  const isEdited = editing.pointer === NEW_ITEM;
  const container = useRestoreFocus<HTMLDivElement>(isEdited, '.quiet-chip');
  const { begin } = editing;
  if (isEdited) return <ItemEditor item={NO_ITEM} pointer={NEW_ITEM} editing={editing} />;
  return (
    <div ref={container}>
      {begin && (
        <button type="button" className="quiet-chip" onClick={() => begin(NEW_ITEM)}>
          <Plus aria-hidden="true" size={14} />
          {t('item.add')}
        </button>
      )}
      <ItemDraft pointer={NEW_ITEM} editing={editing} />
    </div>
  );
}
