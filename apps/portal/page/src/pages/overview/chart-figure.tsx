import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { OverviewPoint } from '../../api/overview.ts';
import { formatStep, type Series } from './series.ts';

/** A chart with title, legend and data table. */
export function ChartFigure({
  title,
  points,
  series,
  stepMs,
  children,
}: {
  title: string;
  points: OverviewPoint[];
  series: Series[];
  stepMs: number;
  children: ReactNode;
}): ReactNode {
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
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t('from')}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {t(`series.${name}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {points.toReversed().map((point) => (
                <tr key={point.at}>
                  <th scope="row">{formatStep(point.at, stepMs, points.length)}</th>
                  {series.map(({ name, of, format }) => (
                    <td key={name}>{formatted(of(point), format)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

function formatted(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}
