import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Edits, Order, Warning } from '../../api/review.ts';
import { formatCount } from '../../components/numbers.ts';
import { EditorButtons, editorKeys } from './field-editor.tsx';
import { EditButton, type Editing, useRestoreFocus } from './field-row.tsx';
import { WarningNotes } from './warning-notes.tsx';

type Item = Order['items'][number];

/**
 * The items of an order.
 *
 * @param props.items undefined while loading.
 * @param props.count the total; a long order shows only its first items.
 */
export function ItemsTable({
  items,
  count,
  warned,
  editing,
}: {
  items: Item[] | undefined;
  count: number;
  warned: Map<string, Warning[]>;
  editing: Editing;
}): ReactNode {
  const { t } = useTranslation('review');
  return (
    <section className="stack-tight">
      <h3>{t('field.items')}</h3>
      {count === 0 && <p className="hint">{t('field.noItems')}</p>}
      {count > 0 && !items && <p className="hint">{t('common:state.loading')}</p>}
      {items && items.length < count && (
        <p className="hint">{t('field.itemsShown', { shown: formatCount(items.length), all: formatCount(count) })}</p>
      )}
      {items && items.length > 0 && (
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
      <WarningNotes warnings={warned.get('/items')} />
    </section>
  );
}

function ItemRow({
  item,
  pointer,
  warnings,
  editing,
}: {
  item: Item;
  pointer: string;
  warnings: Warning[] | undefined;
  editing: Editing;
}): ReactNode {
  const { t } = useTranslation('review');
  const isEdited = editing.pointer === pointer;
  const container = useRestoreFocus<HTMLTableRowElement>(isEdited);
  return (
    <>
      <tr ref={container} className={warnings ? 'item-warned' : undefined}>
        {isEdited ? (
          <td colSpan={4}>
            <ItemEditor item={item} pointer={pointer} onSave={editing.save} onCancel={editing.end} />
          </td>
        ) : (
          <>
            <td className="item-quantity">{item.quantity ?? '–'}</td>
            <td>
              <bdi>{item.name ?? '–'}</bdi>
            </td>
            <td>
              <bdi dir="ltr">{item.sku ?? '–'}</bdi>
            </td>
            <td className="item-edit">
              <EditButton pointer={pointer} label={item.name ?? t('field.items')} editing={editing} />
            </td>
          </>
        )}
      </tr>
      {warnings && (
        <tr className="item-warnings">
          <td colSpan={4}>
            <WarningNotes warnings={warnings} />
          </td>
        </tr>
      )}
    </>
  );
}

/** Integers are sent as numbers; anything else is sent as typed, and the service normalizes it. */
const asQuantity = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text);

function ItemEditor({
  item,
  pointer,
  onSave,
  onCancel,
}: {
  item: Item;
  pointer: string;
  onSave: (edits: Edits) => void;
  onCancel: () => void;
}): ReactNode {
  const { t } = useTranslation('review');
  const before = { quantity: String(item.quantity ?? ''), name: item.name ?? '', sku: item.sku ?? '' };
  const [draft, setDraft] = useState(before);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.select(), []);
  const save = () => {
    const edits: Edits = {};
    for (const name of ['quantity', 'name', 'sku'] as const) {
      const text = draft[name].trim();
      if (draft[name] !== before[name])
        edits[`${pointer}/${name}`] = text === '' ? null : name === 'quantity' ? asQuantity(text) : draft[name];
    }
    if (Object.keys(edits).length > 0) onSave(edits);
    else onCancel();
  };
  const field = (name: keyof typeof draft) => ({
    'aria-label': t(`item.${name}`),
    placeholder: t(`item.${name}`),
    value: draft[name],
    onChange: (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value }),
    onKeyDown: editorKeys(save, onCancel),
  });
  return (
    <form
      className="item-editor"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <input ref={first} inputMode="numeric" dir="ltr" {...field('quantity')} />
      <input dir="auto" {...field('name')} />
      <input dir="ltr" {...field('sku')} />
      <EditorButtons onCancel={onCancel} />
    </form>
  );
}
