import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, type ServerAddress } from '../../runtime/config/config.ts';
import { freeUdpRange } from '../support/ports.ts';
import { EmbeddedMedia } from './media/embedded-media.ts';
import { MediaCalls } from './media/media-calls.ts';
import { cpuMs, processListeningOn, residentMiB } from './support/process-usage.ts';
import type { Benchmark, Figure } from './support/report.ts';

/** Simultaneous calls of the steps. */
const STEPS = [25, 50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 1000];
const MEASURED_MS = 5000;
/** Share of packets that may be lost or more than 10 ms late in a clean step: a listener notices more. */
const LATE_SHARE = 0.01;
/** Other load may spoil a measurement: a step is clean when one of this many is. */
const TRIES = 3;

type Kind = 'playing' | 'bridged';

interface Step {
  readonly calls: number;
  readonly late: number;
  /** Thousandths of a core, and KiB of memory, per call. */
  readonly millicores: number;
  readonly kibibytes: number;
}

/** A media server under measurement. */
interface Subject {
  readonly name: string;
  readonly address: ServerAddress;
  readonly pid: number;
}

/** The number of calls that a media server plays to or bridges without late sound: embedded, and real where one is named. */
export const media: Benchmark = {
  title: 'media: simultaneous calls before RTP is late; in place of the floor, a real FreeSWITCH where one is named',
  async run(progress) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-media-'));
    const rtp = await freeUdpRange(4 * (STEPS.at(-1) ?? 0));
    const embedded = await EmbeddedMedia.start(folder, rtp);
    try {
      const [real] = readConfig({ RINGMASTER_FREESWITCH: process.env['RINGMASTER_FREESWITCH'] }).freeswitch;
      const subjects: Subject[] = [{ name: 'embedded', address: embedded.address, pid: embedded.pid }];
      if (real !== undefined) subjects.push({ name: 'real', address: real, pid: processListeningOn(real.port) });
      const figures: Figure[] = [];
      for (const kind of ['playing', 'bridged'] as const) {
        const climbs: Climb[] = [];
        for (const subject of subjects) climbs.push(await climb(kind, subject, progress));
        figures.push(...rows(kind, climbs));
      }
      return figures;
    } finally {
      await embedded.stop();
      await rm(folder, { recursive: true });
    }
  },
};

interface Climb {
  readonly first: Step | undefined;
  readonly best: Step | undefined;
  readonly last: Step | undefined;
}

/** Adds calls until a step is not clean. */
async function climb(kind: Kind, subject: Subject, progress: (line: string) => void): Promise<Climb> {
  const idle = residentMiB(subject.pid);
  const calls = await MediaCalls.open(subject.address);
  let first: Step | undefined;
  let best: Step | undefined;
  let last: Step | undefined;
  try {
    for (const count of STEPS) {
      try {
        await calls.grow(kind, count);
      } catch (error) {
        // A server without time for another call has reached its limit.
        progress(`${subject.name}, ${calls.count} ${kind}: no further call, ${(error as Error).message}`);
        break;
      }
      let step = await measure(kind, calls, subject, idle, progress);
      for (let tries = 1; tries < TRIES && step.late > LATE_SHARE; tries += 1) {
        step = await measure(kind, calls, subject, idle, progress);
      }
      first ??= step;
      last = step;
      if (step.late > LATE_SHARE) break;
      best = step;
    }
  } finally {
    await calls.close();
  }
  return { first, best, last };
}

async function measure(
  kind: Kind,
  calls: MediaCalls,
  { name, pid }: Subject,
  idleMiB: number,
  progress: (line: string) => void,
): Promise<Step> {
  const before = cpuMs(pid);
  const began = performance.now();
  const { sent, received, lateness } = await calls.listen(MEASURED_MS);
  const millicores = ((cpuMs(pid) - before) / (performance.now() - began) / calls.count) * 1000;
  const kibibytes = ((residentMiB(pid) - idleMiB) * 1024) / calls.count;
  const share = sent === 0 ? 1 : (lateness.length + Math.max(0, sent - received)) / sent;
  progress(
    `${name}, ${calls.count} ${kind}: ${(100 * share).toFixed(2)} % late or lost, ` +
      `${millicores.toFixed(1)} millicores and ${kibibytes.toFixed(0)} KiB a call`,
  );
  return { calls: calls.count, late: share, millicores, kibibytes };
}

function rows(kind: Kind, [embedded, real]: readonly Climb[]): Figure[] {
  const note = embedded?.last === embedded?.best ? 'the most tried' : `late at ${embedded?.last?.calls ?? 0}`;
  const [own, other] = [embedded?.best ?? embedded?.first, real?.best ?? real?.first];
  const at = `of ${own?.calls ?? 0}${other === undefined ? '' : `, real of ${other.calls}`}`;
  const memory = { what: `KiB for each ${kind} call`, figure: own?.kibibytes, floor: other?.kibibytes, note: at };
  return [
    { what: `${kind} calls before RTP is late`, figure: embedded?.best?.calls, floor: real?.best?.calls, note },
    { what: `millicores for each ${kind} call`, figure: own?.millicores, floor: other?.millicores, note: at },
    // The played calls have left behind the resources that bridged ones use.
    ...(kind === 'playing' ? [memory] : []),
  ];
}
