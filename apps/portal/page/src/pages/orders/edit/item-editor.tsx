import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Edits, Expected, Order } from '../../../api/review.ts';
import type { Drafts } from '../../../components/drafts.ts';
import { FieldError } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { itemText } from '../../../components/order-values.ts';
import { NEW_ITEM } from '../order/fields.ts';
import { type Editing, useEditProblem, useSave } from './editing.ts';
import { ConflictNote, EditorButtons, editorKeys } from './editor-parts.tsx';

export type Item = Order['items'][number];

const MEMBERS = ['quantity', 'name', 'sku'] as const;
type Member = (typeof MEMBERS)[number];

/** Integers are sent as numbers; anything else is sent as typed, and the service reads or rejects it. */
const asQuantity = (text: string) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : text);
const toValue = (member: Member, text: string) =>
  text.trim() === '' ? null : member === 'quantity' ? asQuantity(text) : text;

/** All members, because another item may have moved to this index. */
export function expectedItem(pointer: string, item: Item): Expected {
  return Object.fromEntries(MEMBERS.map((member) => [`${pointer}/${member}`, item[member]]));
}

/** The unsaved changes of an item in one line, or null. */
export function draftText(drafts: Drafts, pointer: string): string | null {
  const texts = MEMBERS.flatMap((member) => drafts[`${pointer}/${member}`]?.text ?? []);
  return texts.length === 0 ? null : texts.join(', ');
}

/** Edits an item in place, or a new one. */
export function ItemEditor({ item, pointer, editing }: { item: Item; pointer: string; editing: Editing }): ReactNode {
  const { t } = useTranslation('review');
  const id = useId();
  const problemOf = useEditProblem();
  const saving = useSave(editing);
  const line = useRef<HTMLDivElement>(null);

  useEffect(() => line.current?.querySelector('input')?.select(), []);
  const draftOf = (member: Member) => editing.drafts[`${pointer}/${member}`];
  const textOf = (member: Member) => draftOf(member)?.text ?? String(item[member] ?? '');
  const changed = MEMBERS.filter((member) => textOf(member) !== String(item[member] ?? ''));
  const isConflict = changed.some((member) => draftOf(member)?.seen !== item[member]);
  const dropDrafts = () => {
    for (const member of MEMBERS) editing.keep(`${pointer}/${member}`, null);
  };
  const close = () => {
    dropDrafts();
    editing.end();
  };
  const write = () => {
    const values = MEMBERS.map((member) => [member, toValue(member, textOf(member))] as const);
    const edits: Edits =
      pointer === NEW_ITEM
        ? { [pointer]: Object.fromEntries(values) as unknown as Item }
        : Object.fromEntries(
            values
              .filter(([member]) => changed.includes(member))
              .map(([member, value]) => [`${pointer}/${member}`, value]),
          );
    const focused = line.current?.querySelector<HTMLInputElement>('input:focus');
    saving.run(edits, pointer === NEW_ITEM ? {} : expectedItem(pointer, item), {
      onSaved: editing.end,
      onFailed: () => (line.current?.querySelector<HTMLInputElement>('[aria-invalid]') ?? focused)?.focus(),
    });
  };
  const save = () => {
    if (changed.length === 0) close();
    else if (!isConflict) write();
  };
  const isAbout = (member: Member) => (named: string) => named.endsWith(`/${member}`);
  const isElsewhere = (named: string) => !MEMBERS.some((member) => isAbout(member)(named));
  const problems = MEMBERS.map((member) => problemOf(saving.error, isAbout(member)));
  const other = problemOf(saving.error, isElsewhere);
  const shown = [...problems, other].filter((text) => text !== null);
  const field = (member: Member) => ({
    name: member,
    'aria-label': t(`item.${member}`),
    'aria-invalid': problems[MEMBERS.indexOf(member)] !== null || undefined,
    'aria-describedby': shown.length > 0 ? id : undefined,
    placeholder: t(`item.${member}`),
    readOnly: saving.isPending,
    autoComplete: 'off',
    value: textOf(member),
    onChange: (event: { target: { value: string } }) => {
      const text = event.target.value;
      const draft = draftOf(member);
      const seen = draft ? draft.seen : item[member];
      saving.reset();
      editing.keep(`${pointer}/${member}`, text === String(seen ?? '') ? null : { text, seen });
    },
    onKeyDown: editorKeys(save, close),
  });
  return (
    <Form className="item-editor" onSubmit={save}>
      <div ref={line} className="editor-line">
        <input inputMode="numeric" dir="ltr" {...field('quantity')} />
        <input dir="auto" {...field('name')} />
        <input dir="ltr" {...field('sku')} />
        <EditorButtons isBusy={saving.isPending} onCancel={close} />
      </div>
      <FieldError id={id} text={shown.join(' ')} />
      {isConflict && (
        <ConflictNote
          theirs={itemText(item)}
          onMine={() => {
            for (const member of changed)
              editing.keep(`${pointer}/${member}`, { text: textOf(member), seen: item[member] });
            write();
          }}
          onTheirs={close}
        />
      )}
    </Form>
  );
}
