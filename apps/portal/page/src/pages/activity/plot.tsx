import { type PointerEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { OverviewPoint } from '../../api/overview.ts';
import { Fact } from '../../components/card.tsx';
import { formatStep, type Series } from './series.ts';
import './plot.css';

/** Labels of the time axis; half of them on a narrow chart. */
const TIME_LABELS = 6;

/**
 * Axes and a tooltip around a drawing. The drawing is SVG in a view of one unit a point and 100 units in height; it is stretched, so it
 * contains no text. In right-to-left languages time runs to the left.
 */
export function Plot(props: {
  points: OverviewPoint[];
  series: Series[];
  stepMs: number;
  /** Values with a line and a label. */
  ticks: number[];
  format: (value: number) => string;
  /** The height of a value, from 0 to 100. */
  heightOf: (value: number) => number;
  children: ReactNode;
}): ReactNode {
  const { points, series, stepMs, ticks, format, heightOf, children } = props;
  const { i18n } = useTranslation();
  const [pointed, setPointed] = useState<number | null>(null);
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    const index = Math.floor((i18n.dir() === 'rtl' ? 1 - share : share) * points.length);
    setPointed(Math.min(points.length - 1, Math.max(0, index)));
  };
  const labelEvery = Math.ceil(points.length / TIME_LABELS);
  const pointedAt = pointed === null ? undefined : points[pointed];
  return (
    <div className="plot">
      <div className="plot-values" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick} style={{ insetBlockEnd: `${heightOf(tick)}%` }}>
            {format(tick)}
          </span>
        ))}
      </div>
      <div className="plot-area" onPointerMove={point} onPointerLeave={() => setPointed(null)}>
        <svg
          className="flips"
          viewBox={`0 0 ${points.length} 100`}
          preserveAspectRatio="none"
          aria-hidden="true"
          focusable="false"
        >
          {ticks.map((tick) => (
            <path key={tick} className="plot-line" d={`M0 ${100 - heightOf(tick)}h${points.length}`} />
          ))}
          {pointed !== null && <rect className="plot-pointed" x={pointed} width="1" y="0" height="100" />}
          {children}
        </svg>
        {pointed !== null && pointedAt && (
          <Tooltip
            point={pointedAt}
            series={series}
            title={formatStep(pointedAt.at, stepMs, points.length)}
            share={(pointed + 0.5) / points.length}
          />
        )}
      </div>
      <div className="plot-times" aria-hidden="true">
        {points.map(
          ({ at }, index) =>
            index % labelEvery === 0 && (
              <span key={at} style={{ insetInlineStart: `${(index / points.length) * 100}%` }}>
                {formatStep(at, stepMs, points.length)}
              </span>
            ),
        )}
      </div>
    </div>
  );
}

function Tooltip(props: { point: OverviewPoint; series: Series[]; title: string; share: number }): ReactNode {
  const { t } = useTranslation('overview');
  const side = props.share < 0.5 ? 'insetInlineStart' : 'insetInlineEnd';
  const distance = `${(props.share < 0.5 ? props.share : 1 - props.share) * 100}%`;
  return (
    <div className="card plot-tip" style={{ [side]: distance }} aria-hidden="true">
      <strong>{props.title}</strong>
      <dl className="facts">
        {props.series.toReversed().map(({ name, of, format }) => {
          const value = of(props.point);
          return value !== null && (value > 0 || name === 'written') ? (
            <Fact key={name} name={t(`series.${name}`)}>
              {format(value)}
            </Fact>
          ) : null;
        })}
      </dl>
    </div>
  );
}
