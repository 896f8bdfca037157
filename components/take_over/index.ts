import { Type } from 'typebox';
import { defineComponent, ownCall } from '../../runtime/runs/index.ts';
import { ANSWER_RESULTS, answerFields, answerOf, follow, reportAs } from '../answers.ts';

export const takeOver = defineComponent({
  name: 'take_over',
  summary:
    'Takes one party out of a live call; it then is the other party of the scenario (SIP INVITE with Replaces, RFC 3891).',
  docs: [
    'The party keeps its phone call and hears nothing of the change. Its former partner is released, unless `other` says',
    'something else. A scenario that has a caller takes the party over under a name of its own, as `call` does: `leg: other`',
    'beside `take_over`; `bridge` then lets the two talk. In tests, `phones` describes the party under the id of the live call.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: Type.String({ minLength: 1, maxLength: 64, examples: ['4f1c09d2ab7e'], description: 'The live call.' }),
    side: Type.Enum(['a', 'b'], { examples: ['b'], description: 'Which party: `a` called, `b` was called.' }),
    other: Type.Enum(['released', 'waits', 'held'], {
      default: 'released',
      description:
        'What happens to its former partner. `waits`: another scenario takes it over too, within 5 s. `held`: a phone stays on hold until the taken party returns to it (`refer` with `back`), or its call with the scenario is over.',
    }),
    binding: Type.String({ maxLength: 256, default: '', description: 'Label attached to the call.' }),
    report_as: reportAs('F'),
  }),
  exits: {
    taken: { call: 'up', description: 'The party is with the scenario.' },
    refused: { description: 'There is no such call, it is not answered yet, or that party is no phone.' },
  },
  results: ANSWER_RESULTS,
  waits: true,
  placesCall: true,
  subject: 'dialogid',
  run: async (context, { dialogid, side, other, binding, report_as: party }) => {
    const taken = ownCall(context.call, 'takeOver').takeOver({
      dialogid,
      side,
      other,
      ...(binding === '' ? {} : { binding }),
    });
    follow(context, taken, side, party);
    const answer = await answerOf(taken.final, context);
    const { dialogid: id = '' } = context.call;
    return {
      exit: answer.status < 300 ? 'taken' : 'refused',
      fields: { ...answerFields(taken, answer), dialogid: id },
    };
  },
});
