/** The report for a terminal. */
import type { Times } from './percentiles.ts';
import type { LoadReport, ReceivedReport } from './report.ts';

/** Per cent of late packets of this program, above which its figures are doubtful. */
const DOUBTFUL = 1;

/** @returns lines, with a line feed at the end */
export function reportText(report: LoadReport): string {
  const { calls, rate, received, sound, sender } = report;
  const asked = rate.from === rate.to ? `${rate.from}` : `${rate.from} to ${rate.to}`;
  const lines = [
    `Load of ${report.sip}, ${report.domain}: ${report.what}`,
    '',
    ...report.unregistered.map((phone) => `not registered  ${phone}`),
    `calls           ${calls.tried} tried, ${calls.answered} answered, ${calls.failed} failed${cutShort(report)}`,
    ...report.failures.map(({ reason, calls: count }) => `  ${String(count).padStart(6)}  ${reason}`),
    `rate            ${rate.achieved} a second, asked ${asked}; at most ${report.mostLive} at once; ${report.seconds} s`,
    ...(report.heldBack > 0 ? [`held back       ${report.heldBack} calls, because of --live`] : []),
    `sound           ${sound.checked} calls checked, ${sound.right} right`,
    '',
    `${setupTitle(report).padEnd(28)}${['p50', 'p90', 'p99', 'max'].map((name) => name.padStart(9)).join('')}`,
    ...setupRows(report).map(([name, times]) => `  ${name.padEnd(26)}${timesRow(times)}`),
    '',
    `${'packets of sound'.padEnd(28)}${['received', 'lost', 'late', 'jitter'].map((name) => name.padStart(9)).join('')}`,
    `  ${'at the callers'.padEnd(26)}${receivedRow(received.caller)}`,
    ...(report.received.called.packets > 0
      ? [`  ${'at the called phones'.padEnd(26)}${receivedRow(received.called)}`]
      : []),
    '',
    ...doubts(sender),
    verdictOf(report),
  ];
  return `${lines.join('\n')}\n`;
}

/** The first word is PASSED or FAILED. */
export function verdictOf({ passed, calls, maxFailures, unregistered }: LoadReport): string {
  if (unregistered.length > 0) return 'FAILED: phones could not register, no call was made';
  return `${passed ? 'PASSED' : 'FAILED'}: ${calls.failed} calls failed, ${maxFailures} may`;
}

/** What the set-up times count from. */
export function setupTitle({ kind }: LoadReport): string {
  return kind === 'originate' ? 'ms from the request to' : 'ms from INVITE to';
}

/** The names of the set-up times, which depend on who starts the calls. */
export function setupRows({ kind, setup }: LoadReport): [string, Times | undefined][] {
  const isOriginated = kind === 'originate';
  return [
    [isOriginated ? 'INVITE at the caller' : '180', setup.ringing],
    [isOriginated ? 'its answer: connected' : '200', setup.answered],
    ['first sound', setup.sound],
  ];
}

/** A warning when this program was too late itself. */
export function doubts({ latePercent, worstMs }: LoadReport['sender']): string[] {
  if (latePercent <= DOUBTFUL) return [];
  return [
    `Doubtful: this machine was too busy. ${latePercent} % of the packets were sent more than 10 ms late, at worst ${worstMs} ms.`,
    '',
  ];
}

function cutShort({ calls, isStopped }: LoadReport): string {
  return isStopped ? `, ${calls.cutShort} cut short by the stop` : '';
}

function timesRow(times: Times | undefined): string {
  if (times === undefined) return '-'.padStart(9).repeat(4);
  return [times.p50, times.p90, times.p99, times.max].map((value) => value.toFixed(1).padStart(9)).join('');
}

function receivedRow({ packets, lostPercent, latePercent, jitterMs }: ReceivedReport): string {
  return [String(packets), `${lostPercent} %`, `${latePercent} %`, `${jitterMs} ms`]
    .map((cell) => cell.padStart(9))
    .join('');
}
