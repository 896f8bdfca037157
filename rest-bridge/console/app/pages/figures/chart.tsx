/** A chart over time by uPlot, with the present values as text. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clock } from '../../lib/format.ts';
import { language } from '../../lib/words.ts';
import type { Moment } from '../../stores/figures.ts';

export interface Line {
  readonly label: () => string;
  readonly of: (moment: Moment) => number | null;
}

export interface ChartProps {
  readonly title: string;
  /** After values. */
  readonly unit: string;
  readonly lines: readonly Line[];
  readonly moments: readonly Moment[];
}

const HEIGHT = 170;
const COLORS = ['--line-1', '--line-2', '--line-3'];

/** uPlot draws with colours, not with styles: a chart is made anew when they change. */
const dark = signal(false);
const scheme = matchMedia('(prefers-color-scheme: dark)');
dark.value = scheme.matches;
scheme.addEventListener('change', () => {
  dark.value = scheme.matches;
});

export function Chart({ title, unit, lines, moments }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const made = new uPlot(optionsOf(element, unit, lines), dataOf(moments, lines), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [dark.value, language.value]);
  useEffect(() => plot.current?.setData(dataOf(moments, lines)), [moments]);
  const last = moments.at(-1);
  return (
    <section class="card chart">
      <h2>{title}</h2>
      <ul class="legend">
        {lines.map(({ label, of }, index) => (
          <li key={index}>
            <span class="swatch" style={{ background: `var(${COLORS[index] ?? ''})` }} />
            {label()} <strong>{last === undefined ? '–' : shown(of(last), unit)}</strong>
          </li>
        ))}
      </ul>
      <div ref={holder} class="plot" role="img" aria-label={title} />
    </section>
  );
}

function shown(value: number | null, unit: string): string {
  return value === null ? '–' : `${rounded(value)}${unit}`;
}

function rounded(value: number): string {
  return value === 0 || Number.isInteger(value) ? String(value) : value.toPrecision(value < 10 ? 2 : 3);
}

function dataOf(moments: readonly Moment[], lines: readonly Line[]): uPlot.AlignedData {
  return [moments.map(({ at }) => at), ...lines.map(({ of }) => moments.map(of))];
}

function optionsOf(element: HTMLElement, unit: string, lines: readonly Line[]): uPlot.Options {
  const color = (name: string): string => {
    const probe = element.ownerDocument.createElement('span');
    probe.style.color = `var(${name})`;
    element.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const axis = { stroke: color('--quiet'), grid: { stroke: color('--edge'), width: 1 }, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, space: 80, values: (_plot, times) => times.map((at) => clock(at * 1000)) },
      { ...axis, size: 56, values: (_plot, values) => values.map((value) => `${value}${unit}`) },
    ],
    series: [
      {},
      ...lines.map((_line, index) => ({
        stroke: color(COLORS[index] ?? '--line-1'),
        width: 1.5,
        spanGaps: true,
        points: { size: 4 },
      })),
    ],
  };
}
