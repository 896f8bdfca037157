import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const reject = defineComponent({
  name: 'reject',
  summary: 'Refuses the incoming call with a SIP status.',
  otherNames: ['decline', 'refuse', 'busy'],
  docs: 'Usual statuses: 486 busy, 480 not available, 404 unknown number, 603 declined (RFC 3261 section 21).',
  settings: Type.Object({
    status: Type.Integer({
      minimum: 400,
      maximum: 699,
      default: 486,
      examples: [486],
      description: 'SIP status of the refusal.',
    }),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '^[^\\r\\n]+$',
        examples: ['Busy Here'],
        description: 'Reason phrase; default: the usual one of the status.',
      }),
    ),
  }),
  shorthand: 'status',
  exits: { next: { call: 'over', description: 'The call is refused.', otherwise: 'end' } },
  results: {},
  needsCall: 'any',
  run: async ({ call }, { status, reason }) => {
    await call.reject(status, reason);
    return { exit: 'next' };
  },
});
