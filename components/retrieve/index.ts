import { Type } from 'typebox';
import { defineComponent, ownCall } from '../../runtime/runs/index.ts';
import { ANSWER_RESULTS, answerFields, answerOf, follow } from '../answers.ts';

export const retrieve = defineComponent({
  name: 'retrieve',
  summary: 'Connects the other party with the party that is parked in a slot.',
  docs: [
    'For a scenario that a phone calls to get a parked party. The two talk afterwards, and the scenario has no call any more.',
    'A slot exists as long as the party waits there, at every node of a cluster; the log reports an unknown slot.',
  ].join('\n'),
  settings: Type.Object({
    slot: Type.String({ pattern: '^[A-Za-z0-9_-]{1,32}$', examples: ['701'], description: 'The slot.' }),
  }),
  shorthand: 'slot',
  exits: {
    retrieved: { call: 'over', description: 'The two talk; the scenario has no call any more.', otherwise: 'end' },
    empty: { description: 'The parked party could not be connected any more: `status` says why.' },
    unknown: { description: 'Nobody is parked in the slot.', otherwise: 'empty' },
  },
  results: { ...ANSWER_RESULTS, number: { type: 'string', description: 'Number of the party that was parked.' } },
  waits: true,
  needsCall: 'connected',
  subject: 'slot',
  run: async (context, { slot }) => {
    const { services, domain, call, note } = context;
    const parked = await services.parking.find(domain, slot);
    if (!parked) {
      note('warn', `retrieve: nobody is parked in slot ${slot} of ${domain}`);
      return { exit: 'unknown', fields: { status: 404, last_response: 'SIP/2.0 404 Not Found' } };
    }
    const { dialogid, side, number } = parked;
    const transfer = ownCall(call, 'join').join({ dialogid, side });
    const attempt = { ...transfer, callid: transfer.acallid };
    follow(context, attempt, slot, undefined);
    const answer = await answerOf(transfer.final, context, transfer);
    const fields = { ...answerFields(attempt, answer), number };
    return { exit: answer.status < 300 ? 'retrieved' : 'empty', fields };
  },
});
