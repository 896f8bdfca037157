/** The console with 10,000 live calls: processor time of a frame, memory after many events. */
import { setTimeout as delay } from 'node:timers/promises';
import type { CDPSession } from 'puppeteer-core';
import { ConsoleBrowser, type ConsoleWindow } from '../console/console-browser.ts';
import { findProgram } from '../phones/peers.ts';
import { StandIn } from './console/stand-in.ts';
import { percentile } from './support/percentile.ts';
import { type Benchmark, Unavailable } from './support/report.ts';

const CALLS = 10_000;
const CHANGES = 200;
const SCROLL_MS = 5_000;
/** As many events as an hour has at 20 a second. */
const EVENTS = 72_000;
const EVENTS_A_SECOND = 800;
/** Each call was read again then. */
const FIRST_EVENTS = 20_000;
/** A frame of a screen with 60 a second. */
const FRAME_MS = 16.8;

export const consolePage: Benchmark = {
  title: `console: ${CALLS.toLocaleString('en')} live calls in Chromium`,
  async run(progress) {
    const program = findProgram('chromium');
    if (program === undefined) throw new Unavailable('chromium is not installed');
    const standIn = await StandIn.start(CALLS);
    const browser = await ConsoleBrowser.start(program);
    try {
      const window = await browser.open(standIn.base, '#/calls');
      await window.shows(`${CALLS.toLocaleString('en')} of`);
      const cdp = await window.page.createCDPSession();
      // Processor time of the page's thread, whatever else the machine does.
      await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
      const still = await scrolled(window, cdp);
      progress(`scrolling: ${described(still)}`);
      standIn.change(CHANGES);
      const changing = await scrolled(window, cdp);
      progress(`scrolling, ${CHANGES} changes a second: ${described(changing)}`);
      standIn.change(EVENTS_A_SECOND);
      await sent(standIn, FIRST_EVENTS);
      const before = await heapOf(cdp);
      await sent(standIn, EVENTS);
      standIn.change(0);
      const after = await heapOf(cdp);
      progress(
        `heap: ${before.toFixed(2)} MB, after ${EVENTS.toLocaleString('en')} more events ${after.toFixed(2)} MB`,
      );
      return [
        { what: 'ms of processor time a frame, scrolling', figure: still.ms, note: shares(still) },
        {
          what: `ms of processor time a frame, ${CHANGES} changes a second`,
          figure: changing.ms,
          note: shares(changing),
        },
        { what: `MB of heap after ${FIRST_EVENTS.toLocaleString('en')} events`, figure: before },
        { what: `MB of heap after ${EVENTS.toLocaleString('en')} more`, figure: after },
      ];
    } finally {
      await browser.stop();
      standIn.close();
    }
  },
};

async function sent(standIn: StandIn, count: number): Promise<void> {
  const last = standIn.events + count;
  while (standIn.events < last) await delay(1000);
}

interface Scrolled {
  /** Processor time of a frame. */
  readonly ms: number;
  /** Milliseconds between frames. */
  readonly gaps: readonly number[];
}

/** Scrolls the list by ten rows each frame. */
async function scrolled({ page }: ConsoleWindow, cdp: CDPSession): Promise<Scrolled> {
  const before = await processorTime(cdp);
  const gaps = (await page.evaluate(`new Promise((done) => {
    const list = document.querySelector('[role=grid]');
    const gaps = [];
    const began = performance.now();
    let last = began;
    const frame = (now) => {
      gaps.push(now - last);
      last = now;
      list.scrollTop += 340;
      if (now - began < ${SCROLL_MS}) requestAnimationFrame(frame); else done(gaps.slice(1));
    };
    requestAnimationFrame(frame);
  })`)) as number[];
  return { ms: ((await processorTime(cdp)) - before) / gaps.length, gaps };
}

/** Milliseconds of the page's thread. */
async function processorTime(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}

/** Megabytes in use after a collection. */
async function heapOf(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  return (await cdp.send('Runtime.getHeapUsage')).usedSize / 1e6;
}

function shares({ gaps }: Scrolled): string {
  const late = gaps.filter((gap) => gap > FRAME_MS).length;
  return `${gaps.length} frames, ${late} above ${FRAME_MS} ms, p99 ${(percentile(gaps, 0.99) ?? 0).toFixed(1)} ms`;
}

function described(each: Scrolled): string {
  return `${each.ms.toFixed(1)} ms of processor time a frame; ${shares(each)}`;
}
