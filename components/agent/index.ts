import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

const NAME = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' });

export const agent = defineComponent({
  name: 'agent',
  summary: 'Makes an agent of queues ready or away, and says what the agent does.',
  otherNames: ['agent_state', 'agent_login', 'ready', 'pause_agent'],
  docs: [
    'An agent who is `away` gets no further caller of any queue; a present conversation goes on. Without `state` nothing changes.',
    '`queues` are those that the agent serves where a queue has `agents: assigned`, and `skills` those that a queue may ask for; left',
    'out, both stay as they are. The settings survive a restart. The example `agent`, dialled as 507, is a switch for an agent to dial.',
  ].join('\n'),
  settings: Type.Object({
    number: Type.String({
      minLength: 1,
      maxLength: 64,
      examples: ['102'],
      description: 'The phone number of the agent.',
    }),
    state: Type.Optional(
      Type.Enum(['ready', 'away'], { examples: ['away'], description: 'Whether the agent takes callers.' }),
    ),
    queues: Type.Optional(
      Type.Array(NAME, { maxItems: 100, examples: [['support']], description: 'Queues that the agent serves.' }),
    ),
    skills: Type.Optional(
      Type.Array(NAME, { maxItems: 100, examples: [['german']], description: 'What the agent can do.' }),
    ),
  }),
  shorthand: 'number',
  exits: { next: { description: 'Done.' } },
  results: {
    state: { type: 'string', description: 'What the agent wants.', values: ['ready', 'away'] },
    status: {
      type: 'string',
      description: 'What the agent does; `busy`: in a call that no queue gave it.',
      values: ['ready', 'away', 'ringing', 'talking', 'wrap_up', 'busy'],
    },
    queue: { type: 'string', description: 'The queue of the present caller; empty: none.' },
  },
  brief: true,
  subject: 'number',
  run: async ({ services: { agents }, domain }, { number, state, queues, skills }) => {
    const change = {
      ...(state === undefined ? {} : { state }),
      ...(queues === undefined ? {} : { queues }),
      ...(skills === undefined ? {} : { skills }),
    };
    const known = Object.keys(change).length === 0 ? await agents.get(domain, number) : undefined;
    const { state: wanted, status, queue } = known ?? (await agents.set(domain, number, change));
    return { exit: 'next', fields: { state: wanted, status, queue } };
  },
});
