import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { OverviewPoint } from '../../api/overview.ts';
import { DataTable } from '../../components/data-table.tsx';
import { formatStep, type Series } from './series.ts';

/** A chart with title, legend and data table. */
export function ChartFigure(props: {
  title: string;
  points: OverviewPoint[];
  series: Series[];
  stepMs: number;
  children: ReactNode;
}): ReactNode {
  const { title, points, series, stepMs, children } = props;
  const { t } = useTranslation('overview');
  const id = useId();
  return (
    <figure className="card" aria-labelledby={id}>
      <figcaption className="spread">
        <h3 id={id}>{title}</h3>
        <ul className="plain row legend">
          {series.map(({ name, colour, isDashed }) => (
            <li key={name} className="row">
              <svg width="20" height="10" aria-hidden="true">
                {isDashed ? (
                  <path d="M0 5H20" stroke={colour} strokeWidth="3" strokeDasharray="6 3" />
                ) : (
                  <rect width="20" height="10" rx="2" fill={colour} />
                )}
              </svg>
              {t(`series.${name}`)}
            </li>
          ))}
        </ul>
      </figcaption>
      <div className="chart">{children}</div>
      <details>
        <summary>{t('asTable')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
        <section className="table-scroll chart-table" tabIndex={0} aria-labelledby={id}>
          <DataTable
            className="table"
            rows={points.toReversed()}
            keyOf={({ at }) => at}
            columns={[
              { header: t('from'), cell: ({ at }) => formatStep(at, stepMs, points.length) },
              ...series.map(({ name, of, format }) => ({
                header: t(`series.${name}`),
                cell: (point: OverviewPoint) => formatted(of(point), format),
              })),
            ]}
          />
        </section>
      </details>
    </figure>
  );
}

function formatted(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}
