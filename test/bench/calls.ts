import { findProgram } from '../phones/peers.ts';
import { openBare, openNode, type Program } from './calls/programs.ts';
import { type Climb, climb, ended, measure, RATES, type Step, type Subject } from './support/climb.ts';
import { percentile } from './support/percentile.ts';
import { startedWith } from './support/process-usage.ts';
import { PARTS } from './support/processor-time.ts';
import { NEEDED, type RealPair, realPair } from './support/real-pair.ts';
import { type Benchmark, type Figure, Unavailable } from './support/report.ts';

/** The lowest rate of a climb. */
const FROM = 20;
/** Of the floor's clean rate. */
const SHARES = [0.25, 0.5, 0.75];
/** Calls with sound each second, whose phones take as much processor time as a server. */
const SOUND_RATE = 5;

type Progress = (line: string) => void;

/** A program's climb, and its steps at the shares of the floor's clean rate. */
interface Measured {
  readonly climb: Climb;
  readonly steps: readonly Step[];
}

interface Compared {
  readonly node: Measured;
  readonly floor: Measured;
}

/** A node and a bare program on the same libraries and servers make the same calls. */
export const calls: Benchmark = {
  title:
    'calls: alice calls bob, who answers at once; half a second later alice hangs up. ' +
    'Floor: a bare program on drachtio-srf and drachtio-fsmrf',
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const { start, ...embedded } = await overEmbedded(sipp, progress);
    const figures = figuresOf('embedded', embedded);
    const pair = realPair();
    if (pair === undefined) {
      progress(`only over embedded servers: ${NEEDED}`);
      return figures;
    }
    return [...figures, ...figuresOf('real', await overPair(sipp, pair, start, progress))];
  },
};

/** Both run all the time and are measured in turns. */
async function overEmbedded(sipp: string, progress: Progress) {
  const node = await openNode(sipp, undefined);
  const start = startedWith(node.processes.program);
  let floor: Program | undefined;
  try {
    floor = await openBare(sipp, undefined, start);
    const floorClimb = await climbOf(floor, progress);
    const nodeClimb = await climbOf(node, progress);
    const steps: Record<'node' | 'floor', Step[]> = { node: [], floor: [] };
    for (const rate of sharesOf(floorClimb)) {
      steps.floor.push(await measure(rate, progress, withSound(floor)));
      steps.node.push(await measure(rate, progress, withSound(node)));
    }
    return {
      start,
      node: { climb: nodeClimb, steps: steps.node },
      floor: { climb: floorClimb, steps: steps.floor },
    };
  } finally {
    await floor?.close();
    await node.close();
  }
}

/** One after the other: a drachtio-server shares its calls among connected programs. */
async function overPair(
  sipp: string,
  pair: RealPair,
  start: ReturnType<typeof startedWith>,
  progress: Progress,
): Promise<Compared> {
  const floor = await alone(() => openBare(sipp, pair, start), progress);
  return { floor, node: await alone(() => openNode(sipp, pair), progress, floor.climb) };
}

/** @param floor the climb that sets the rates of the steps: by default its own */
async function alone(open: () => Promise<Program>, progress: Progress, floor?: Climb): Promise<Measured> {
  const own = await running(open, (program) => climbOf(program, progress));
  // Again: channels of calls that an overload left behind cost FreeSWITCH processor time until their program ends.
  const steps = await running(open, async (program) => {
    const measured: Step[] = [];
    const rates = sharesOf(floor ?? own);
    for (const rate of [...rates.slice(0, 1), ...rates]) {
      measured.push(await measure(rate, progress, withSound(program)));
    }
    // The first step is to warm up.
    return measured.slice(1);
  });
  return { climb: own, steps };
}

async function running<T>(open: () => Promise<Program>, work: (program: Program) => Promise<T>): Promise<T> {
  const program = await open();
  try {
    return await work(program);
  } finally {
    await program.close();
  }
}

function climbOf(program: Program, progress: Progress): Promise<Climb> {
  const rates = RATES.filter((rate) => rate >= FROM);
  return climb(rates, progress, program);
}

function sharesOf({ best }: Climb): number[] {
  return best === undefined ? [] : SHARES.map((share) => Math.round(best.rate * share));
}

/** Some of the calls are made by phones that have sound, which SIPp does not hear. */
function withSound(program: Program): Subject {
  return {
    ...program,
    call: async (count, rate) => {
      const own = Math.min(SOUND_RATE, Math.ceil(rate / 2));
      const heard = (count * own) / rate;
      const [outcome, soundTimes] = await Promise.all([
        program.call(count - heard, rate - own),
        program.sound.call(program.sip, heard, own),
      ]);
      return { ...outcome, soundTimes, clean: outcome.clean && soundTimes.length === heard };
    },
  };
}

function figuresOf(servers: 'embedded' | 'real', { node, floor }: Compared): Figure[] {
  const clean = {
    what: `${servers}: clean calls per second`,
    figure: node.climb.best?.rate,
    floor: floor.climb.best?.rate,
    note: `${ended(node.climb)}; floor ${ended(floor.climb)}`,
  };
  return [clean, ...node.steps.flatMap((step, index) => figuresAt(servers, step, floor.steps[index]))];
}

function figuresAt(servers: string, node: Step, floor: Step | undefined): Figure[] {
  const note = [...(node.clean ? [] : ['not clean']), ...(floor?.clean === false ? ['floor not clean'] : [])].join(
    '; ',
  );
  const row = (what: string, of: (step: Step) => number | undefined): Figure => ({
    what: `${servers}, ${node.rate}/s: ms ${what}`,
    figure: of(node),
    floor: floor && of(floor),
    note,
  });
  const times = (what: string, of: (step: Step) => readonly number[]) =>
    [0.5, 0.99].map((share) => row(`from INVITE to ${what}, p${share * 100}`, (step) => percentile(of(step), share)));
  return [
    ...times('180', (step) => step.caller.ringingTimes),
    ...times('200', (step) => step.caller.answerTimes),
    ...times('first sound', (step) => step.soundTimes ?? []),
    row('of processor time a call', (step) => step.cpuPerCall),
    ...PARTS.map((part) => row(`of that: ${part}`, (step) => step.cpuOfParts[part])),
  ];
}
