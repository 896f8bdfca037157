/** Shows how far a load is: a bar on a terminal, else a line every few seconds; on standard error. */
import process from 'node:process';
import type { Progress } from '../load/index.ts';

const BAR_MS = 200;
const LINE_MS = 5000;
const WIDTH = 24;

/** @returns ends the display */
export function showProgress(progress: () => Progress, calls: number): () => void {
  const { stderr } = process;
  const show = stderr.isTTY
    ? () => stderr.write(`\r${barOf(progress())}${textOf(progress(), calls)}\x1b[K`)
    : () => stderr.write(`${textOf(progress(), calls)}\n`);
  const timer = setInterval(show, stderr.isTTY ? BAR_MS : LINE_MS);
  return () => {
    clearInterval(timer);
    if (stderr.isTTY) stderr.write('\r\x1b[K');
  };
}

function barOf({ share }: Progress): string {
  const done = Math.floor(share * WIDTH);
  return `[${'#'.repeat(done)}${'.'.repeat(WIDTH - done)}] `;
}

function textOf({ tried, live, failed }: Progress, calls: number): string {
  return `${tried} of ${calls} calls, ${live} live, ${failed} failed`;
}
