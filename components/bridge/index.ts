import { Type } from 'typebox';
import { type CallEnd, defineComponent, isInterruption, ownCallTo } from '../../runtime/runs/index.ts';
import { Duration, ScenarioError } from '../../runtime/language/index.ts';
import { withinTime } from '../within-time.ts';

export const bridge = defineComponent({
  name: 'bridge',
  summary: 'Lets the caller and a party that the scenario called talk with each other.',
  otherNames: ['connect', 'connect_calls'],
  docs: [
    'The scenario keeps both calls. When the block is done, the remaining party is with the scenario again, for a question',
    'after the conversation or the next agent. An interrupt (`on: { dtmf: { "*": BLOCK } }`) also parts the two. To give the',
    'caller away for good use `refer` or `hunt`. With `leg` beside it, two parties that the scenario called are connected.',
  ].join('\n'),
  settings: Type.Object({
    with: Type.String({
      minLength: 1,
      maxLength: 32,
      examples: ['agent'],
      description: 'The party, by the name under which it was called.',
    }),
    max: Type.Optional(Duration({ examples: ['1h'], description: 'Longest conversation; default: no limit.' })),
    hang_up: Type.Boolean({ default: true, description: 'Whether the party is hung up on when the block is done.' }),
  }),
  shorthand: 'with',
  legSetting: 'with',
  exits: {
    ended: { description: 'The party hung up, or had done so before; the caller is with the scenario.' },
    timeout: {
      description: 'The longest time is over.',
      otherwise: 'ended',
      when: ({ max }) => max !== undefined,
    },
  },
  results: { milliseconds: { type: 'integer', description: 'How long they talked.' } },
  waits: true,
  needsCall: 'connected',
  subject: 'with',
  run: async (context, { with: leg, max, hang_up: hangUp }) => {
    const { clock, result } = context;
    const call = ownCallTo(context.call, 'be connected with another');
    const other = context.leg(leg);
    if (other === context.call) throw new ScenarioError('setting', `bridge: "${leg}" cannot talk with itself`);
    // The called party hung up before the connection.
    const { aborted: isOver, reason } = other.endSignal;
    if (isOver && isInterruption(reason as CallEnd)) return { exit: 'ended', fields: { milliseconds: 0 } };
    const start = clock.now();
    const talk = (signal: AbortSignal): Promise<unknown> => call.bridge(other, signal);
    try {
      const ended = max === undefined ? await talk(context.signal) : await withinTime(context, max, talk);
      return { exit: ended === undefined ? 'timeout' : 'ended', fields: { milliseconds: clock.now() - start } };
    } finally {
      result({ milliseconds: clock.now() - start });
      if (hangUp && other.state === 'connected') await other.hangup();
    }
  },
});
