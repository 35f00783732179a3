import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProblem } from '../../../api/client.ts';
import type { Order } from '../../../api/review.ts';
import type { Preview } from '../../../api/sources.ts';
import { Fact } from '../../../components/card.tsx';
import { ProblemNote } from '../../../components/loaded.tsx';
import { fieldLabel, fieldText, ORDER_FIELDS, valueAt } from '../../../components/order-values.ts';

/** The order that a mapping makes of a delivery. */
export function MappedOrder(props: { preview: UseQueryResult<Preview>; idPrefix: string }): ReactNode {
  const { preview, idPrefix } = props;
  const { t } = useTranslation('sources');
  const isDelivery =
    isProblem(preview.error, 'invalid_request') && preview.error.errors.some(({ pointer }) => pointer === '/delivery');
  return (
    <section className="stack-tight mapped-order" aria-labelledby="mapped-title" aria-busy={preview.isFetching}>
      <h3 id="mapped-title">{t('order.title')}</h3>
      {isDelivery && <p className="note note-bad">{t('order.noJson')}</p>}
      {preview.isError && !isProblem(preview.error, 'invalid_request') && (
        <ProblemNote error={preview.error} retry={() => void preview.refetch()} />
      )}
      {preview.isError && !isDelivery && isProblem(preview.error, 'invalid_request') && (
        <p className="note note-bad">{t('order.refused')}</p>
      )}
      {preview.data && !preview.isError && <Result preview={preview.data} idPrefix={idPrefix} />}
    </section>
  );
}

function Result({ preview, idPrefix }: { preview: Preview; idPrefix: string }): ReactNode {
  const { order } = preview;
  const { t } = useTranslation(['sources', 'review']);
  return (
    <dl className="facts">
      <Fact name={t('review:field.sourceOrderId')}>
        <span dir="auto">
          {order.source_order_id ? [idPrefix, order.source_order_id].filter(Boolean).join(':') : '–'}
        </span>
      </Fact>
      {ORDER_FIELDS.map((pointer) => (
        <Fact key={pointer} name={fieldLabel(t, pointer)}>
          <span dir="auto" className="mapped-value">
            {fieldText(t, pointer, valueAt(order as unknown as Order, pointer))}
          </span>
        </Fact>
      ))}
    </dl>
  );
}
