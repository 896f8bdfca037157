/** A ladder as lines of text. */
import type { LadderView } from '../../ladder/index.ts';
import { drawingOf, type Lane, type Rung } from './lanes.ts';

/** Columns of the time, and between two lanes. */
const TIME = 14;
const MIN_GAP = 30;
/** Control characters of a message must not reach a terminal. */
// oxlint-disable-next-line no-control-regex -- that is what it finds
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;

/** @param full also the text of each message */
export function ladderText(view: LadderView, full: boolean): readonly string[] {
  const { lanes, rungs } = drawingOf(view);
  const gap = Math.max(MIN_GAP, ...lanes.map(({ name, address }) => Math.max(name.length, address.length) + 3));
  const lines = [...titles(view), '', ...heads(lanes, gap), ...rungs.map((rung, at) => rungLine(rung, at, lanes, gap))];
  const texts = rungs.flatMap(({ message, label }, at) => [
    '',
    `(${at + 1}) ${message.time} ${message.from || '-'} -> ${message.to || '-'} ${label}`,
    ...message.text.trimEnd().split('\r\n'),
  ]);
  return [...lines, ...(full ? texts : [])].map((line) => line.replace(CONTROL, '?').trimEnd());
}

/** What the diagram is about. */
export function titles({ calls, complete, messages }: LadderView): readonly string[] {
  const all = calls.map(
    ({ id, dialogid, started, ended }) => `call ${id}  dialog ${dialogid || '-'}  ${started} to ${ended ?? 'now'}`,
  );
  return [
    ...all,
    ...(messages.length === 0 ? ['No message of it was on the wire here, or none is kept.'] : []),
    ...(complete
      ? []
      : ['Older messages of it are no longer kept: RINGMASTER_LADDER_MB is too small for the last hour.']),
  ];
}

function heads(lanes: readonly Lane[], gap: number): readonly string[] {
  const row = (of: (lane: Lane) => string): string =>
    `${' '.repeat(TIME)}${lanes.map((lane) => of(lane).padEnd(gap)).join('')}`;
  return [row(({ name }) => name), row(({ address }) => address)];
}

function rungLine({ message, from, to, label }: Rung, at: number, lanes: readonly Lane[], gap: number): string {
  const left = Math.min(from, to);
  const right = Math.max(from, to);
  const width = (right - left) * gap - 1;
  const number = ` (${at + 1}) `;
  const room = width - 4 - number.length;
  const shown = label.length > room ? `${label.slice(0, room - 1)}…` : label;
  const text = `${number}${shown} `;
  const bare = text.padEnd(width - 2, message.wire ? '-' : '.');
  const arrow = from < to ? `-${bare}>` : `<${bare}-`;
  const cells = lanes.map((_lane, lane) => {
    if (lane === left) return `|${arrow}`;
    if (lane > left && lane < right) return '';
    return lane === lanes.length - 1 ? '|' : `|${' '.repeat(gap - 1)}`;
  });
  return `${message.time.slice(11, 23).padEnd(TIME)}${cells.join('')}`;
}
