import type { ReactNode } from 'react';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Aligned at the end. */
  isNumber?: boolean;
}

/**
 * A table whose rows become cards where there is little room.
 *
 * @param props.label names it, unless the heading of its card does.
 * @param props.columns the first names the row, unless `isPlain`.
 * @param props.actions the buttons of a row, under a header for screen readers.
 */
export function DataTable<Row>(props: {
  label?: string;
  className?: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  columns: readonly Column<Row>[];
  isPlain?: boolean;
  actions?: { header: string; of: (row: Row) => ReactNode };
}): ReactNode {
  const { label, className = 'data-table', rows, keyOf, columns, isPlain, actions } = props;
  const classOf = ({ isNumber }: Column<Row>) => (isNumber ? 'is-number' : undefined);
  return (
    <table className={className} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.header} scope="col" className={classOf(column)}>
              {column.header}
            </th>
          ))}
          {actions && (
            <th scope="col">
              <span className="visually-hidden">{actions.header}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column, index) =>
              index === 0 && !isPlain ? (
                <th key={column.header} scope="row">
                  {column.cell(row)}
                </th>
              ) : (
                <td key={column.header} className={classOf(column)} data-label={column.header}>
                  {column.cell(row)}
                </td>
              ),
            )}
            {actions && (
              <td className="cell-actions">
                <span className="row">{actions.of(row)}</span>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
