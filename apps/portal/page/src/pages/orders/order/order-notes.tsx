import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import type { OrderDetail } from '../../../api/review.ts';
import { useAccountId, useCan } from '../../../api/session.ts';
import { Actor } from '../../../components/actor.tsx';
import { Button } from '../../../components/button.tsx';
import { type Draft, NOTE } from '../../../components/drafts.ts';
import { FieldError } from '../../../components/field.tsx';
import { Form } from '../../../components/form-dialog.tsx';
import { useProblemText } from '../../../components/loaded.tsx';
import { Ago } from '../../../components/time.tsx';
import { useAction } from '../../../components/use-action.ts';

/** The API's limit. */
const MAX_CHARACTERS = 1000;

/** The notes of the reviewers, and a new one, whose text is kept like an edit. */
export function OrderNotes(props: {
  /** The notes of an erased customer's order are final. */
  isErased: boolean;
  notes: OrderDetail['notes'];
  draft: Draft | undefined;
  keep: (pointer: string, draft: Draft | null) => void;
  orderId: number;
  onAdded: (changed: OrderDetail) => Promise<void>;
}): ReactNode {
  const { isErased, notes, draft, keep, orderId, onAdded } = props;
  const accountId = useAccountId();
  const { t } = useTranslation('review');
  const textOf = useProblemText();
  const can = useCan();
  const id = useId();
  const text = draft?.text ?? '';
  const annotation = useAction({
    mutationFn: (note: string) =>
      call<OrderDetail>('POST', `/accounts/${accountId}/orders/${orderId}/notes`, { body: { text: note } }),
    async onSuccess(changed) {
      keep(NOTE, null);
      await onAdded(changed);
    },
  });
  const isBlank = text.trim() === '';
  const save = () => {
    if (isBlank || annotation.isPending) return;
    annotation.mutate(text.trim());
  };
  return (
    <section className="notes" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>{t('note.title')}</h3>
      {notes.length > 0 && (
        <ol className="plain">
          {notes.map((note) => (
            <li key={note.note_id}>
              <p className="long-text" dir="auto">
                {note.text}
              </p>
              <p className="hint">
                <Actor actor={note.by} />, <Ago at={note.at} />
              </p>
            </li>
          ))}
        </ol>
      )}
      {notes.length === 0 && !can('review') && <p className="hint">{t('common:state.none')}</p>}
      {!isErased && can('review') && (
        <Form className="stack-tight" onSubmit={save}>
          <textarea
            aria-label={t('note.new')}
            placeholder={t('note.new')}
            aria-describedby={`${id}-hint`}
            dir="auto"
            rows={isBlank ? 1 : 3}
            maxLength={MAX_CHARACTERS}
            readOnly={annotation.isPending}
            value={text}
            onChange={({ target }) => {
              annotation.reset();
              keep(NOTE, target.value === '' ? null : { text: target.value, seen: null });
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              save();
            }}
          />
          {!isBlank && (
            <div className="row">
              <Button type="submit" className="button-small" aria-disabled={annotation.isPending}>
                {t('note.save')}
              </Button>
              <span id={`${id}-hint`} className="hint">
                {t('note.keys')}
              </span>
            </div>
          )}
          <FieldError text={annotation.isError && textOf(annotation.error)} />
        </Form>
      )}
    </section>
  );
}
