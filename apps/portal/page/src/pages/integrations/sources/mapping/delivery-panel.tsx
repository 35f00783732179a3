import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Delivery } from '../../../../api/sources.ts';
import { fullTime } from '../../../../components/time.tsx';
import { DeliveryTree, parseTree } from './delivery-tree.tsx';

/** Instead of a receipt's id: a delivery that the user pastes. */
export const OWN_EXAMPLE = '';

/** The delivery beside the mapping: a stored one, or a pasted example. */
export function DeliveryPanel(props: {
  deliveries: Delivery[];
  chosen: string;
  onChoose: (receiptId: string) => void;
  text: string;
  onText: (text: string) => void;
  onPick: (pointer: string) => void;
}): ReactNode {
  const { t } = useTranslation(['sources', 'receipts']);
  const id = useId();
  const document = parseTree(props.text);
  const isOwn = props.chosen === OWN_EXAMPLE;
  return (
    <section className="stack-tight" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>{t('delivery.title')}</h3>
      <div className="field">
        <label htmlFor={id}>{t('delivery.choose')}</label>
        <select id={id} value={props.chosen} onChange={(event) => props.onChoose(event.target.value)}>
          {props.deliveries.map(({ receipt_id, received_at, state }) => (
            <option key={receipt_id} value={receipt_id}>
              {`${fullTime(received_at)} · ${t(`receipts:state.${state}`)}`}
            </option>
          ))}
          <option value={OWN_EXAMPLE}>{t('delivery.own')}</option>
        </select>
      </div>
      {isOwn && (
        <div className="field">
          <label htmlFor={`${id}-own`}>{t('delivery.paste')}</label>
          <textarea
            id={`${id}-own`}
            className="mono"
            dir="ltr"
            rows={6}
            spellCheck={false}
            value={props.text}
            onInput={(event) => props.onText(event.currentTarget.value)}
          />
        </div>
      )}
      {document === undefined && !isOwn && <p className="note">{t('delivery.unreadable')}</p>}
      {document !== undefined && (
        <>
          <p className="hint">{t('delivery.pick')}</p>
          <DeliveryTree document={document} onPick={props.onPick} />
        </>
      )}
    </section>
  );
}
