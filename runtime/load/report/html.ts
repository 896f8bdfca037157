/** The report as a page of its own: no scripts, nothing from elsewhere. */
import type { Times } from './percentiles.ts';
import { escapeHtml, plotSvg, type Series } from './plot.ts';
import type { LoadReport, ReceivedReport } from './report.ts';
import { PAGE_STYLE } from './style.ts';
import { doubts, setupRows, setupTitle, verdictOf } from './text.ts';

/** @returns an HTML document */
export function reportHtml(report: LoadReport): string {
  const { calls, failures, unregistered, received, sender } = report;
  const title = `Load of ${report.sip}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p class="what">${escapeHtml(report.domain)}: ${escapeHtml(report.what)}. Began ${escapeHtml(report.began.slice(0, 19).replace('T', ' '))} UTC, took ${report.seconds} s.${report.isStopped ? ' Stopped early.' : ''}</p>
<p class="${report.passed ? 'passed' : 'failed'}">${escapeHtml(verdictOf(report))}</p>
${doubts(sender)
  .filter((line) => line !== '')
  .map((line) => `<p class="failed">${escapeHtml(line)}</p>`)
  .join('\n')}
<ul class="figures">
${figure(calls.tried, 'calls tried')}
${figure(calls.answered, 'answered')}
${figure(calls.failed, 'failed')}
${calls.cutShort > 0 ? figure(calls.cutShort, 'cut short') : ''}
${figure(report.rate.achieved, `calls a second, asked ${askedRate(report)}`)}
${figure(report.mostLive, 'calls at once, at most')}
${figure(`${report.sound.right} / ${report.sound.checked}`, 'right sound, of the calls checked')}
</ul>
${
  unregistered.length > 0
    ? table(
        ['Phones that could not register'],
        unregistered.map((phone) => [phone]),
      )
    : ''
}
${
  failures.length > 0
    ? table(
        ['Calls', 'Reason of failure'],
        failures.map(({ calls: count, reason }) => [String(count), reason]),
      )
    : ''
}
${table(
  [setupTitle(report), 'calls', 'p50', 'p90', 'p99', 'max'],
  setupRows(report).map(([name, times]) => [name, ...timesCells(times)]),
)}
${plots(report).join('\n')}
${table(
  ['packets of sound', 'received', 'lost', 'late', 'highest jitter'],
  [
    ['at the callers', ...receivedCells(received.caller)],
    ...(received.called.packets > 0 ? [['at the called phones', ...receivedCells(received.called)]] : []),
  ],
)}
<p class="note">A packet is late when it comes more than 40 ms after the fastest of its call. This program sent ${sender.packets} packets, ${sender.latePercent} % of them more than 10 ms late.${report.heldBack > 0 ? ` ${report.heldBack} calls started late, because of --live.` : ''}</p>
</body>
</html>
`;
}

function plots(report: LoadReport): string[] {
  const { timeline } = report;
  const overTime = (name: string, of: (moment: (typeof timeline)[number]) => number | undefined): Series => ({
    name,
    points: timeline.flatMap((moment): [number, number][] => {
      const value = of(moment);
      return value === undefined ? [] : [[moment.second + moment.length / 2, value]];
    }),
  });
  const last = timeline.at(-1);
  const time = { xTitle: 'seconds from the start', xMax: last === undefined ? 1 : last.second + last.length };
  return [
    plotSvg({
      title: 'Calls a second',
      ...time,
      yTitle: 'calls',
      series: [
        overTime('started', ({ started, length }) => started / length),
        overTime('answered', ({ answered, length }) => answered / length),
        overTime('failed', ({ failed, length }) => failed / length),
      ],
    }),
    plotSvg({ title: 'Calls at once', ...time, yTitle: 'calls', series: [overTime('live', ({ live }) => live)] }),
    plotSvg({
      title: report.kind === 'originate' ? 'From the request to its answer' : 'From INVITE to 200',
      ...time,
      yTitle: 'milliseconds',
      series: [overTime('p50', ({ p50 }) => p50), overTime('p99', ({ p99 }) => p99)],
    }),
    plotSvg({
      title: 'Share of the calls set up within a time',
      xTitle: setupTitle(report).replace('ms from', 'milliseconds from').replace(/ to$/, ''),
      yTitle: 'per cent of the calls',
      logX: true,
      yMax: 100,
      series: setupRows(report).flatMap(([name, times]) => (times === undefined ? [] : [distribution(name, times)])),
    }),
  ];
}

/** Shares below a time; the shortest times are 0.1 ms. */
function distribution(name: string, { curve }: Times): Series {
  return { name, points: curve.map((value, index) => [Math.max(0.1, value), index + 1] as const) };
}

function askedRate({ rate }: LoadReport): string {
  return rate.from === rate.to ? String(rate.from) : `${rate.from} to ${rate.to}`;
}

function figure(value: number | string, name: string): string {
  return `<li><b>${value}</b> ${escapeHtml(name)}</li>`;
}

function timesCells(times: Times | undefined): string[] {
  if (times === undefined) return ['0', '-', '-', '-', '-'];
  return [String(times.count), ...[times.p50, times.p90, times.p99, times.max].map((value) => value.toFixed(1))];
}

function receivedCells({ packets, lost, lostPercent, late, latePercent, jitterMs }: ReceivedReport): string[] {
  return [String(packets), `${lost} (${lostPercent} %)`, `${late} (${latePercent} %)`, `${jitterMs} ms`];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
  return `<div class="table"><table><thead>${cells('th', head)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table></div>`;
}
