import { writeFile } from 'node:fs/promises';
import * as echarts from 'echarts';
import { OURS, OURS_ON_POSTGRES } from './contestants.ts';
import { QUOTED_LOAD } from './rounds.ts';
import type { Row } from './summary.ts';

const OURS_COLOUR = '#1a7f64';
const OTHERS_COLOUR = '#9aa5b1';

/** Draws the end-to-end rates at 128 connections as bars, with the spread of the rounds in the labels, into an SVG file. */
export async function drawChart(rows: readonly Row[], file: string): Promise<void> {
  const shown = rows
    .filter(({ load, faults }) => load === QUOTED_LOAD && faults.length === 0)
    .toSorted((a, b) => a.ordersPerSecond - b.ordersPerSecond);
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 760, height: 80 + 44 * shown.length });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: {
      text: `Orders a second, end to end, ${QUOTED_LOAD} connections`,
      left: 12,
      top: 10,
      textStyle: { fontSize: 15 },
    },
    grid: { left: 170, right: 150, top: 50, bottom: 30 },
    xAxis: { type: 'value', splitLine: { lineStyle: { color: '#e5e9ee' } } },
    yAxis: {
      type: 'category',
      data: shown.map(({ contestant }) => (contestant === 'ceiling' ? 'ceiling (stores nothing)' : contestant)),
      axisTick: { show: false },
    },
    series: [
      {
        type: 'bar',
        barWidth: 22,
        data: shown.map(({ contestant, ordersPerSecond }) => ({
          value: Math.round(ordersPerSecond),
          itemStyle: { color: [OURS.name, OURS_ON_POSTGRES.name].includes(contestant) ? OURS_COLOUR : OTHERS_COLOUR },
        })),
        label: {
          show: true,
          position: 'right',
          formatter: ({ dataIndex }: { dataIndex: number }) => {
            const { ordersPerSecond, ordersPerSecondSpread } = shown[dataIndex] as Row;
            const [least, most] = ordersPerSecondSpread.map((rate) => Math.round(rate).toLocaleString('en'));
            return `${Math.round(ordersPerSecond).toLocaleString('en')}  (${least}–${most})`;
          },
        },
      },
    ],
  });
  await writeFile(file, chart.renderToSVGString());
  chart.dispose();
}
