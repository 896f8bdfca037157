import { Type } from 'typebox';
import { defineComponent, ownCall } from '../../runtime/runs/index.ts';
import { ANSWER_RESULTS, answerFields, answerOf, follow, referredBy, reportAs } from '../answers.ts';

export const join = defineComponent({
  name: 'join',
  summary:
    'Joins the other party with one party of another live call: an attended transfer (SIP REFER with Replaces, RFC 3891).',
  otherNames: ['attended_transfer', 'consultation_transfer', 'refer_replaces', 'join_calls'],
  docs: [
    'The two talk afterwards, and the scenario has no call any more. The former partner of the joined party is released. When',
    'that call is over, the other party stays with the scenario. To join the caller with a party that the scenario called, use',
    '`join: { dialogid: ${ring_agent.dialogid}, side: b }`, where `ring_agent` is the block that called.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: Type.String({ minLength: 1, maxLength: 64, examples: ['4f1c09d2ab7e'], description: 'The live call.' }),
    side: Type.Enum(['a', 'b'], { examples: ['b'], description: 'Which party: `a` called, `b` was called.' }),
    binding: Type.String({ maxLength: 256, default: '', description: 'Label attached to the call.' }),
    referred_by: referredBy,
    report_as: reportAs('T'),
  }),
  exits: {
    joined: { call: 'over', description: 'The two talk; the scenario has no call any more.', otherwise: 'end' },
    refused: { description: 'There is no such call, it is not answered yet, or that party is no phone.' },
  },
  results: ANSWER_RESULTS,
  waits: true,
  needsCall: 'connected',
  run: async (context, { dialogid, side, binding, referred_by: by, report_as: party }) => {
    const transfer = ownCall(context.call, 'join').join({
      dialogid,
      side,
      ...(binding === '' ? {} : { binding }),
      ...(by === '' ? {} : { referredBy: by }),
    });
    const { acallid: callid, provisional, final } = transfer;
    const attempt = { callid, dialogid: transfer.dialogid, provisional, final };
    follow(context, attempt, side, party);
    const answer = await answerOf(final, context);
    return { exit: answer.status < 300 ? 'joined' : 'refused', fields: answerFields(attempt, answer) };
  },
});
