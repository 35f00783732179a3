import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Card } from '../../../components/card.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { fieldLabel } from '../../../components/order-values.ts';
import { type Columns, fieldsFor, sharedFields } from './columns.ts';
import type { TableHead } from './table-file.ts';

/** What each column of a table is. */
export function ColumnsCard(props: {
  head: TableHead;
  columns: Columns;
  /** Whether the choice is that of the last file with these headings. */
  isRemembered: boolean;
  onChange: (columns: Columns) => void;
}): ReactNode {
  const { head, columns, isRemembered, onChange } = props;
  const { t } = useTranslation(['upload', 'review']);
  const fields = fieldsFor(columns);
  const hasId = columns.includes('/source_order_id');
  // A column without a heading cannot be named, so it is left out.
  const rows = head.headings.flatMap((heading, at) => (heading === '' ? [] : { heading, at }));
  return (
    <Card
      title={t('columns.title')}
      about={t(isRemembered ? 'columns.remembered' : 'columns.about')}
      className="stack table-scope upload-columns"
    >
      {!hasId && (
        <p className="note note-bad" role="alert">
          {t('columns.noId')}
        </p>
      )}
      {sharedFields(columns).map((field) => (
        <p key={field} className="note note-warn">
          {t('columns.shared', { field: columnLabel(t, field) })}
        </p>
      ))}
      {head.headings.some((heading, at) => heading === '' && head.samples[at]?.length) && (
        <p className="note note-warn">{t('columns.unnamed')}</p>
      )}
      <DataTable
        label={t('columns.title')}
        rows={rows}
        keyOf={({ at }) => at}
        columns={[
          { header: t('columns.heading'), cell: ({ heading }) => <bdi>{heading}</bdi> },
          {
            header: t('columns.samples'),
            cell: ({ at }) => (
              <span className="samples hint" dir="auto">
                {head.samples[at]?.join(' · ')}
              </span>
            ),
          },
          {
            header: t('columns.field'),
            cell: ({ heading, at }) => (
              <select
                aria-label={t('columns.fieldOf', { heading })}
                value={columns[at] ?? ''}
                onChange={(event) => onChange(columns.with(at, event.currentTarget.value || null))}
              >
                <option value="">{t('columns.leaveOut')}</option>
                {fields.map((field) => (
                  <option key={field} value={field}>
                    {columnLabel(t, field)}
                  </option>
                ))}
              </select>
            ),
          },
        ]}
      />
    </Card>
  );
}

function columnLabel(t: Parameters<typeof fieldLabel>[0], field: string): string {
  if (field === '/source_order_id') return t('upload:columns.orderId');
  // The table has one item in a row, unless its headings number them.
  const [, member] = /^\/items\/0\/(\w+)$/.exec(field) ?? [];
  if (member === undefined) return fieldLabel(t, field);
  return member === 'name' ? t('review:item.name') : `${t('review:item.name')}: ${t(`review:item.${member}`)}`;
}
