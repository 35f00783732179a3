import type { LifeRow } from '@orders/domain/sources/platform-states.ts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../../api/queries.ts';
import { useAccountId } from '../../../api/session.ts';
import type { Source } from '../../../api/sources.ts';
import { DataTable } from '../../../components/data-table.tsx';

/** An order that is a test has any payment; cancellations and ignored deliveries have none. */
const WITHOUT_PAYMENT: ReadonlySet<LifeRow['kind']> = new Set(['test', 'cancellation', 'ignored']);

/** What each status of the source's platform becomes, folded away; nothing for a source that belongs to no platform. */
export function LifeTable({ source }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const { source_number, preset } = source;
  const path = `/accounts/${accountId}/sources/${source_number}/life`;
  const { data } = useGet<{ life: LifeRow[] }>(['sources', accountId, source_number, 'life'], path);
  const life = data?.life ?? [];
  if (life.length === 0) return null;
  const title = t('life.title', { platform: t(`preset.${preset}`) });
  return (
    <details>
      <summary>{title}</summary>
      <DataTable
        label={title}
        rows={life}
        keyOf={({ kind, payment_state }) => `${kind} ${payment_state}`}
        columns={[
          {
            header: t('life.says'),
            cell: ({ says }) => (
              <span dir="ltr">{says.map((one) => (one === '*' ? t('life.other') : one)).join(', ')}</span>
            ),
          },
          { header: t('life.here'), cell: ({ kind }) => t(`life.kind.${kind}`) },
          {
            header: t('life.payment'),
            cell: ({ kind, payment_state }) => {
              if (payment_state !== null)
                return t(`choice.payment_state.${payment_state}` as 'choice.payment_state.paid', { ns: 'review' });
              return WITHOUT_PAYMENT.has(kind) ? '' : t('life.unknown');
            },
          },
        ]}
      />
      <p className="hint">{t('life.joined')}</p>
    </details>
  );
}
