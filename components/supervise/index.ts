import { Type } from 'typebox';
import { defineComponent, ownCallTo } from '../../runtime/runs/index.ts';

export const supervise = defineComponent({
  name: 'supervise',
  summary: 'Lets the other party hear the conversation of an agent, and talk to the agent or to both.',
  otherNames: ['listen_in', 'eavesdrop', 'whisper', 'barge', 'spy', 'monitor'],
  docs: [
    'The other party, e.g. a supervisor, hears the conversation that [`queue`](../queue) gave the agent. `listen`: nobody hears the',
    'supervisor; `whisper`: the agent does; `barge`: agent and caller do. Keys of the supervisor change that at any time: 0 listen, 2',
    'whisper, 1 the caller alone, 3 barge; `*` ends it. Agent and caller hear nothing of the beginning and the end.',
    'Whoever can call the scenario can listen: ask for a PIN, or look at `call.login`. Mind the law on listening to calls.',
  ].join('\n'),
  settings: Type.Object({
    agent: Type.String({
      minLength: 1,
      maxLength: 64,
      examples: ['102'],
      description: 'The phone number of the agent.',
    }),
    mode: Type.Enum(['listen', 'whisper', 'barge'], {
      default: 'listen',
      description: 'Who hears the other party at first.',
    }),
  }),
  shorthand: 'agent',
  exits: {
    ended: { description: 'The conversation is over, or the other party pressed `*`.' },
    idle: { description: 'The agent talks to no caller of a queue.', otherwise: 'ended' },
  },
  results: { milliseconds: { type: 'integer', description: 'How long it took.' } },
  waits: true,
  needsCall: 'connected',
  subject: 'agent',
  run: async ({ call, clock, domain, services, signal, result }, { agent, mode }) => {
    const own = ownCallTo(call, 'supervise a conversation');
    const start = clock.now();
    const talk = await services.agents.talkOf(domain, agent);
    const fields = () => ({ milliseconds: clock.now() - start });
    if (talk === undefined) return { exit: 'idle', fields: fields() };
    try {
      await own.supervise({ ...talk, mode, signal });
      return { exit: 'ended', fields: fields() };
    } finally {
      result(fields());
    }
  },
});
