/** Charts of the node. */
import { useEffect } from 'preact/hooks';
import type { Moment } from '../../stores/figures.ts';
import { figuresProblem, moments, startFigures } from '../../stores/figures.ts';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/figures.ts';
import { Chart, type Line } from './chart.tsx';

interface ChartOf {
  readonly title: Parameters<typeof words>[0];
  readonly unit: string;
  readonly lines: readonly Line[];
}

const line = (label: Parameters<typeof words>[0], of: (moment: Moment) => number | null): Line => ({
  label: () => words(label),
  of,
});

const CHARTS: readonly ChartOf[] = [
  {
    title: 'calls',
    unit: '',
    lines: [line('liveCalls', ({ calls }) => calls), line('conferences', ({ conferences }) => conferences)],
  },
  { title: 'rate', unit: '/s', lines: [line('begun', ({ rate }) => rate)] },
  {
    title: 'setup',
    unit: ' s',
    lines: [line('median', ({ setupMedian }) => setupMedian), line('p95', ({ setup95 }) => setup95)],
  },
  {
    title: 'loss',
    unit: ' %',
    lines: [line('lossIn', ({ lossIn }) => lossIn), line('lossOut', ({ lossOut }) => lossOut)],
  },
  {
    title: 'delay',
    unit: ' ms',
    lines: [line('median', ({ delayMedian }) => delayMedian), line('p99', ({ delay99 }) => delay99)],
  },
  { title: 'cpu', unit: ' %', lines: [line('scripts', ({ scripts }) => scripts), line('node', ({ cpu }) => cpu)] },
];

export default function FiguresPage() {
  useEffect(startFigures, []);
  return (
    <div class="page">
      <div class="bar">
        <h1>{words('title')}</h1>
        <span class="quiet">{words('about')}</span>
        <span class="space" />
        <a href="/metrics">/metrics</a>
      </div>
      <Problem error={figuresProblem.value} />
      <div class="cards">
        {CHARTS.map(({ title, unit, lines }) => (
          <Chart key={title} title={words(title)} unit={unit} lines={lines} moments={moments.value} />
        ))}
      </div>
    </div>
  );
}
