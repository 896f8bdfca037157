import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, Sounds } from '../../runtime/language/index.ts';
import { MELODY } from '../hold_music/index.ts';
import { preAnswerOf, preAnswerSettings } from '../pre-answer.ts';
import { serveByAgent } from './agents.ts';
import { enter, giveUp } from './line.ts';
import { noteTurn, waitForTurn } from './turns.ts';

export const queue = defineComponent({
  name: 'queue',
  summary: 'Lets the other party wait in a line, with music, until an agent is free or it is its turn.',
  otherNames: ['line', 'waiting_queue', 'acd', 'enqueue'],
  docs: [
    'Callers with a higher `priority` come first, and of equal ones the earlier. The place is given up when the call or the',
    'scenario is over, and by `leave: true`. With `announce`, the block leaves by `announce` at that interval, so that the scenario',
    'can say `position` and `expected`, and come back: the place is kept. All scenarios of the domain that name the same queue share',
    'the line, also at the other nodes of a cluster.',
    '',
    'With `agents` the block rings the agents itself, while the music goes on. The caller gets the first agent who is free, is not',
    'away, is not in the wrap-up of the call before, and has all `skills`; of several, the one whose last caller is longest ago. No',
    'phone of an agent is rung twice at once: neither by two queues, nor while it has a call. An agent who does not take the call is',
    'passed over for 30 seconds. Caller and agent talk until one of them hangs up. Then the caller is back (`served`), and the',
    'wrap-up of the agent begins. Keys and times under `on` end the wait, and no conversation. The call with the agent is the leg `agent`. [`agent`](../agent) makes an agent ready or away, and',
    '[`supervise`](../supervise) listens to the conversation.',
    '',
    'Without `agents` the first in the line has its turn; with `turns: 3` the first three. Then try somebody, e.g. by `hunt`, and',
    'come back to this block when nobody answers: the place is kept. Use `leave` before the caller leaves a message instead, or',
    'talks to somebody by `bridge`; otherwise the next callers wait.',
  ].join('\n'),
  settings: Type.Object({
    name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$', examples: ['support'], description: 'Which line.' }),
    agents: Type.Union(
      [Type.Enum(['none', 'assigned']), Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 })],
      {
        default: 'none',
        examples: [['102', '103']],
        description: 'Numbers of the agents; `assigned`: those that have this queue among their `queues`.',
      },
    ),
    priority: Type.Integer({ minimum: 0, maximum: 9, default: 0, description: 'Higher ones come first.' }),
    skills: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }), {
      maxItems: 20,
      default: [],
      examples: [['german']],
      description: 'What the agent must have.',
    }),
    ring: Duration({ default: '20s', examples: ['20s'], description: 'How long an agent may ring.' }),
    wrap_up: Duration({
      default: '0s',
      examples: ['20s'],
      description: 'How long an agent gets no caller after a call.',
    }),
    turns: Type.Integer({ minimum: 1, maximum: 100, default: 1, description: 'How many may have their turn at once.' }),
    announce: Type.Optional(Duration({ examples: ['30s'], description: 'Interval at which to leave by `announce`.' })),
    max: Duration({
      default: '1h',
      examples: ['10m'],
      description: 'How long one may wait, since the line was entered.',
    }),
    leave: Type.Boolean({ default: false, description: 'Gives up the place; the exit is `left`.' }),
    sounds: Sounds({ default: MELODY, examples: ['music.wav'], description: 'Played over and over meanwhile.' }),
    ...preAnswerSettings,
  }),
  shorthand: 'name',
  startsScenario: { scenario: 'pre_answer', args: 'pre_answer_args' },
  exits: {
    served: {
      description: 'The agent hung up; the caller is with the scenario again.',
      when: ({ agents, leave }) => agents !== 'none' && leave !== true,
      otherwise: 'end',
    },
    turn: {
      description: 'It is the turn of this caller.',
      when: ({ agents, leave }) => agents === 'none' && leave !== true,
    },
    left: { description: 'The place is given up, or there was none.', when: ({ leave }) => leave !== false },
    announce: {
      description: 'It is time to say the position.',
      when: ({ announce, leave }) => announce !== undefined && leave !== true,
    },
    timeout: {
      description: 'The longest wait is over; the place is given up.',
      when: ({ leave }) => leave !== true,
      otherwise: 'end',
    },
  },
  results: {
    position: { type: 'integer', description: 'Place in the line, from 1 on.' },
    length: { type: 'integer', description: 'How many are in the line.' },
    milliseconds: { type: 'integer', description: 'How long the caller has waited so far.' },
    expected: {
      type: 'integer',
      description: 'Seconds that a caller in this place waits, by the calls before; -1: unknown.',
    },
    agent: { type: 'string', description: 'The agent who took the call.' },
    dialogid: { type: 'string', description: 'Id of the dialog with the agent.' },
    talked: { type: 'integer', description: 'Milliseconds for which the two talked.' },
  },
  waits: true,
  needsCall: 'connected',
  subject: 'name',
  check: ({ agents, turns, skills, wrap_up: wrapUp, pre_answer: preAnswer }, _exits, given) => {
    if (agents !== 'none') return Number(turns ?? 1) > 1 ? ['`turns` is for a queue without `agents`'] : [];
    const unused = {
      skills: Array.isArray(skills) && skills.length > 0,
      wrap_up: wrapUp !== '0s',
      pre_answer: preAnswer !== '',
    };
    return Object.entries(unused)
      .filter(([name, used]) => used && given.has(name))
      .map(([name]) => `\`${name}\` is for a queue with \`agents\``);
  },
  run: async (context, settings) => {
    const { name, turns, announce, max, leave, sounds, agents, priority, skills } = settings;
    if (leave) return { exit: 'left', fields: giveUp(context, name) };
    const line = await enter(context, name, priority);
    const waited = (): number => context.clock.now() - line.since;
    const left = (parseDuration(max) ?? 0) - waited();
    const pause = announce === undefined ? Infinity : (parseDuration(announce) ?? 0);
    const waitMs = Math.min(left, pause);
    const wanted = { queue: name, skills, agents: Array.isArray(agents) ? agents : undefined };
    const staffed = () => context.services.agents.staffed(context.domain, wanted);
    const fields = async () => ({
      position: line.position(),
      length: line.length(),
      milliseconds: waited(),
      expected: line.expected(agents === 'none' ? turns : await staffed()),
    });
    if (agents === 'none') {
      const isTurn = (): boolean => line.position() <= turns;
      const exit = isTurn() ? 'turn' : await waitForTurn(context, line, { isTurn, milliseconds: waitMs, sounds });
      if (exit === 'turn') {
        noteTurn(context, line, name);
        return { exit, fields: await fields() };
      }
    } else {
      const served = await serveByAgent(context, line, {
        ...wanted,
        priority,
        ring: settings.ring,
        wrapUp: settings.wrap_up,
        sounds,
        waitMs,
        preAnswer: await preAnswerOf(context, settings),
      });
      if (served) return served;
    }
    const last = await fields();
    if (left > pause) return { exit: 'announce', fields: last };
    line.leave();
    return { exit: 'timeout', fields: last };
  },
});
