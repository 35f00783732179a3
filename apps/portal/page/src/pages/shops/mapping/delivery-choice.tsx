import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../../api/queries.ts';
import { isUnmapped } from '../../../api/receipts.ts';
import { useAccountId } from '../../../api/session.ts';
import { type Delivery, useDeliveries } from '../../../api/sources.ts';
import { Field, SelectField } from '../../../components/field.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { exactTime } from '../../../components/time.tsx';
import { parseTree } from './delivery-tree.tsx';
import type { MappingForm } from './mapping-form.ts';
import { firstValue } from './mapping-problems.tsx';

/** Instead of a receipt's id: a delivery that the user pastes. */
const OWN_EXAMPLE = 'own';

/** The opened delivery, else the newest that failed, else the newest, until the user chooses another one or pastes an example. */
export function useDeliveryChoice(sourceNumber: number, opened: string | null) {
  const accountId = useAccountId();
  const { data, isPending } = useDeliveries(accountId, sourceNumber);
  const [wanted, setWanted] = useState(opened);
  const [own, setOwn] = useState('');
  const offered = data?.newest_failed ?? data?.deliveries[0]?.receipt_id;
  // The first one seen stays, so that what the user works with is not replaced by a newer one.
  if (wanted === null && offered !== undefined) setWanted(offered);
  const chosen = wanted ?? OWN_EXAMPLE;
  const isOlder = data?.deliveries.every(({ receipt_id }) => receipt_id !== chosen) && chosen !== OWN_EXAMPLE;
  const older = useGet<Delivery>(
    ['sources', accountId, sourceNumber, 'deliveries', chosen],
    `/accounts/${accountId}/sources/${sourceNumber}/deliveries/${chosen}`,
    { enabled: isOlder === true, refetchInterval: 10_000 },
  );
  const deliveries = useMemo(
    () =>
      [...(data?.deliveries ?? []), ...(older.data ? [older.data] : [])].map((delivery) => ({
        ...delivery,
        document: parseTree(delivery.raw ?? ''),
      })),
    [data, older.data],
  );
  const delivery = deliveries.find(({ receipt_id }) => receipt_id === chosen);
  const isOwn = chosen === OWN_EXAMPLE;
  const ownDocument = useMemo(() => parseTree(own), [own]);
  return {
    deliveries,
    chosen,
    delivery,
    document: isOwn ? ownDocument : delivery?.document,
    isOwn,
    isLoading: isPending || older.isLoading,
    error: older.error,
    text: isOwn ? own : (delivery?.raw ?? ''),
    onChoose: setWanted,
    onText: setOwn,
  };
}

/** Chooses the delivery with which the mapping is compared. Each option is another text. */
export function DeliveryChoice(props: { form: MappingForm; choice: ReturnType<typeof useDeliveryChoice> }): ReactNode {
  const { form, choice } = props;
  const { t } = useTranslation(['sources', 'receipts']);
  const names = choice.deliveries.map((delivery) => {
    const { source_order_id, delivery_kind, received_at, state, document } = delivery;
    const stored = isUnmapped(delivery) ? t('receipts:noOrderId') : source_order_id;
    const id = firstValue(form, 'order_number', document) ?? firstValue(form, 'source_order_id', document) ?? stored;
    const facts = [t(`delivery.kind.${delivery_kind}`), t(`receipts:state.${state}`), exactTime(received_at)];
    return [`\u2068${id}\u2069`, ...facts].join(' · ');
  });
  const options = choice.deliveries.map(({ receipt_id }, index) => {
    const name = names[index] as string;
    const earlier = names.slice(0, index).filter((other) => other === name).length;
    return { value: receipt_id, name: earlier === 0 ? name : `${name} (${earlier + 1})` };
  });
  if (!choice.delivery && !choice.isOwn) options.push({ value: choice.chosen, name: '–' });
  options.push({ value: OWN_EXAMPLE, name: t('delivery.own') });
  return (
    <>
      <SelectField label={t('delivery.title')} options={options} value={choice.chosen} onChange={choice.onChoose} />
      {choice.error && <ProblemNote error={choice.error} />}
      {choice.isOwn && (
        <Field
          label={t('delivery.paste')}
          className="mono"
          dir="ltr"
          rows={6}
          spellCheck={false}
          value={choice.text}
          onChange={choice.onText}
        />
      )}
    </>
  );
}
