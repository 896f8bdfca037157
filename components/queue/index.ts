import { Type } from 'typebox';
import { type ComponentContext, defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, ScenarioError, Sounds } from '../../runtime/language/index.ts';
import { MELODY } from '../hold_music/index.ts';

export const queue = defineComponent({
  name: 'queue',
  summary: 'Lets the other party wait in a line, with music, until it is its turn.',
  otherNames: ['line', 'waiting_queue', 'acd', 'enqueue'],
  docs: [
    'The first in the line has its turn; with `turns: 3` the first three. Then try the agents, e.g. by `hunt`, and come back to',
    'this block when nobody answers: the place is kept. The place is given up when the call or the scenario is over, and by',
    '`leave: true`. Use that before the caller leaves a message instead, or talks to an agent by `bridge`; otherwise the next',
    'callers wait. With `announce`, the block leaves by `announce` at that interval, so that the scenario can say `position` and',
    'come back. All scenarios of the domain that name the same queue share the line; each node has its own.',
  ].join('\n'),
  settings: Type.Object({
    name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$', examples: ['support'], description: 'Which line.' }),
    turns: Type.Integer({ minimum: 1, maximum: 100, default: 1, description: 'How many may have their turn at once.' }),
    announce: Type.Optional(Duration({ examples: ['30s'], description: 'Interval at which to leave by `announce`.' })),
    max: Type.Optional(
      Duration({
        examples: ['10m'],
        description: 'How long one may wait, since the line was entered; default: no limit.',
      }),
    ),
    leave: Type.Boolean({ default: false, description: 'Gives up the place; the exit is `left`.' }),
    sounds: Sounds({ default: MELODY, examples: ['music.wav'], description: 'Played over and over meanwhile.' }),
  }),
  shorthand: 'name',
  exits: {
    turn: { description: 'It is the turn of this caller.', when: ({ leave }) => leave !== true },
    left: { description: 'The place is given up, or there was none.', when: ({ leave }) => leave !== false },
    announce: {
      description: 'It is time to say the position.',
      when: ({ announce, leave }) => announce !== undefined && leave !== true,
    },
    timeout: {
      description: 'The longest wait is over; the place is given up.',
      when: ({ max, leave }) => max !== undefined && leave !== true,
    },
  },
  results: {
    position: { type: 'integer', description: 'Place in the line, from 1 on.' },
    length: { type: 'integer', description: 'How many are in the line.' },
    milliseconds: { type: 'integer', description: 'How long the caller has waited so far.' },
  },
  waits: true,
  needsCall: 'connected',
  subject: 'name',
  run: async (context, { name, turns, announce, max, leave, sounds }) => {
    if (leave) return { exit: 'left', fields: giveUp(context, name) };
    const line = enter(context, name);
    const waited = (): number => context.clock.now() - line.since;
    const left = max === undefined ? Infinity : (parseDuration(max) ?? 0) - waited();
    const pause = announce === undefined ? Infinity : (parseDuration(announce) ?? 0);
    const isTurn = (): boolean => line.position() <= turns;
    const exit = isTurn() ? 'turn' : await wait(context, line, { isTurn, milliseconds: Math.min(left, pause), sounds });
    const fields = { position: line.position(), length: line.length(), milliseconds: waited() };
    if (exit === 'turn') return { exit, fields };
    if (left > pause) return { exit: 'announce', fields };
    line.leave();
    return { exit: 'timeout', fields };
  },
});

interface Line {
  readonly since: number;
  moved: () => void;
  readonly position: () => number;
  readonly length: () => number;
  readonly leave: () => void;
}

function giveUp(
  { services: { queues }, domain, run }: ComponentContext,
  name: string,
): { position: number; length: number } {
  queues.leave(domain, name, run);
  return { position: 0, length: queues.length(domain, name) };
}

/** @throws ScenarioError code `queue_full` */
function enter({ services, domain, run, call, clock }: ComponentContext, name: string): Line {
  const { queues, runs } = services;
  const leave = (): void => queues.leave(domain, name, run);
  const isNew = queues.position(domain, name, run) === 0;
  const place = queues.enter(domain, name, { run, since: clock.now(), moved: () => undefined });
  if (!place) throw new ScenarioError('queue_full', `the queue ${name} is full`);
  if (isNew) {
    call.endSignal.addEventListener('abort', leave, { once: true });
    void runs?.get(run)?.settled.then(leave);
  }
  return {
    since: place.since,
    set moved(moved: () => void) {
      place.moved = moved;
    },
    position: () => queues.position(domain, name, run),
    length: () => queues.length(domain, name),
    leave,
  };
}

/** Plays music until the caller's turn or the timeout. */
async function wait(
  { call, clock, signal, sounds: find }: ComponentContext,
  line: Line,
  { isTurn, milliseconds, sounds }: { isTurn: () => boolean; milliseconds: number; sounds: string | readonly string[] },
): Promise<'turn' | 'time'> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  line.moved = () => {
    if (isTurn()) done.abort();
  };
  const timer =
    milliseconds === Infinity
      ? undefined
      : clock.sleep(Math.max(0, milliseconds), until).then(
          () => done.abort(),
          () => undefined,
        );
  try {
    await call.play(await find(sounds), { signal: until, repeat: Infinity });
  } catch (error) {
    if (!done.signal.aborted || signal.aborted || call.endSignal.aborted) throw error;
  } finally {
    line.moved = () => undefined;
    done.abort();
    await timer;
  }
  return isTurn() ? 'turn' : 'time';
}
