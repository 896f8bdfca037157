/** Line plots as inline SVG. Colours come from the classes `s1`, `s2` and so on of the page. */

/** A line. Points must be in the order of x. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  readonly title: string;
  /** With its unit. */
  readonly xTitle: string;
  readonly yTitle: string;
  readonly series: readonly Series[];
  /** Equal distances for equal factors; every x must be above 0. */
  readonly logX?: boolean;
  /** End of the axis; default: that of the points. */
  readonly xMax?: number;
  readonly yMax?: number;
}

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 56;
const RIGHT = 24;
const TOP = 30;
const BOTTOM = 44;

/** The plot; a sentence in place of one without points. */
export function plotSvg(plot: Plot): string {
  const all = plot.series.flatMap(({ points }) => points);
  if (all.length === 0) return `<p class="none">${escapeHtml(plot.title)}: no figures.</p>`;
  const xs = all.map(([at]) => at);
  const x = plot.logX === true ? logScale(xs) : linearScale(xs, plot.xMax);
  const y = linearScale(
    all.map(([, value]) => value),
    plot.yMax,
  );
  const toX = (value: number): number => round(LEFT + x.share(value) * (WIDTH - LEFT - RIGHT));
  const toY = (value: number): number => round(HEIGHT - BOTTOM - y.share(value) * (HEIGHT - TOP - BOTTOM));
  const parts = [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(plot.title)}">`,
    ...y.ticks.map(
      (tick) =>
        `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${toY(tick)}" y2="${toY(tick)}"/>` +
        `<text class="tick" x="${LEFT - 6}" y="${toY(tick) + 4}" text-anchor="end">${shown(tick)}</text>`,
    ),
    ...x.ticks.map(
      (tick) =>
        `<line class="grid" x1="${toX(tick)}" x2="${toX(tick)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>` +
        `<text class="tick" x="${toX(tick)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${shown(tick)}</text>`,
    ),
    `<text class="axis" x="${(WIDTH + LEFT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(plot.xTitle)}</text>`,
    `<text class="axis" x="4" y="14">${escapeHtml(plot.yTitle)}</text>`,
    ...plot.series.map(({ points }, index) => lineOf(points, index, toX, toY)),
    '</svg>',
  ];
  return `<figure><figcaption>${escapeHtml(plot.title)}${legend(plot.series)}</figcaption>${parts.join('')}</figure>`;
}

function lineOf(
  points: Series['points'],
  index: number,
  toX: (value: number) => number,
  toY: (value: number) => number,
): string {
  const [only, ...more] = points;
  if (only === undefined) return '';
  if (more.length === 0) return `<circle class="s${index + 1}" cx="${toX(only[0])}" cy="${toY(only[1])}" r="3"/>`;
  return `<polyline class="s${index + 1}" points="${points.map(([at, value]) => `${toX(at)},${toY(value)}`).join(' ')}"/>`;
}

function legend(series: readonly Series[]): string {
  if (series.length < 2) return '';
  const keys = series.map(
    ({ name }, index) => `<span class="key"><i class="s${index + 1}"></i>${escapeHtml(name)}</span>`,
  );
  return ` ${keys.join(' ')}`;
}

interface Scale {
  readonly ticks: readonly number[];
  /** Where a value lies, from 0 to 1. */
  share(value: number): number;
}

/** From 0 to a round number. */
function linearScale(values: readonly number[], most: number | undefined): Scale {
  const highest = most ?? Math.max(...values);
  const step = roundStep((highest > 0 ? highest : 1) / 5);
  const end = most ?? Math.max(step, Math.ceil(highest / step) * step);
  const ticks = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, index) => round(index * step, 1e6));
  return { ticks, share: (value) => value / end };
}

/** 1, 2 or 5 times a power of ten, at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
}

/** Whole powers of ten, with 2 and 5 between them. */
function logScale(values: readonly number[]): Scale {
  const steps = [1, 2, 5];
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  const first = Math.floor(Math.log10(lowest));
  const last = Math.ceil(Math.log10(highest));
  const all = Array.from({ length: last - first + 1 }, (_, index) =>
    steps.map((step) => step * 10 ** (first + index)),
  ).flat();
  const from = all.findLast((tick) => tick <= lowest) ?? lowest;
  const to = all.find((tick) => tick > from && tick >= highest) ?? highest;
  return {
    ticks: all.filter((tick) => tick >= from && tick <= to).map((tick) => round(tick, 1e6)),
    share: (value) => Math.log(value / from) / Math.log(to / from),
  };
}

function round(value: number, digits = 10): number {
  return Math.round(value * digits) / digits;
}

function shown(value: number): string {
  return value >= 10_000 ? `${round(value / 1000)}k` : String(value);
}

/** Text for HTML and SVG, also in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
