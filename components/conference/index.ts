import { Type } from 'typebox';
import { defineComponent, type EnteredRoom, ownCallTo } from '../../runtime/runs/index.ts';
import { ANSWER_RESULTS, answerFields, answerOf, follow, referredBy, reportAs } from '../answers.ts';

export const conference = defineComponent({
  name: 'conference',
  summary: 'Brings the other party into a conference room.',
  otherNames: ['room', 'meeting'],
  docs: [
    'The other party is a participant afterwards, and the scenario has no call any more. The room asks for no PIN: the scenario',
    'has decided. When the room is full or does not exist, the other party stays with the scenario. How rooms behave:',
    '[docs/conferences.md](../../docs/conferences.md).',
  ].join('\n'),
  settings: Type.Object({
    room: Type.String({
      maxLength: 64,
      pattern: '^[0-9*#]*$',
      default: '',
      examples: ['17'],
      description:
        "Digits of a room of the domain's conference featurecode, or a whole number with its featurecode; empty: a fresh room.",
    }),
    moderator: Type.Boolean({ default: false, description: 'The other party is a moderator.' }),
    muted: Type.Boolean({ default: false, description: 'The other party listens and is not heard.' }),
    binding: Type.String({ maxLength: 256, default: '', description: 'Label attached to the call.' }),
    referred_by: referredBy,
    report_as: reportAs('T'),
  }),
  shorthand: 'room',
  exits: {
    entered: { call: 'over', description: 'It is in the room; the scenario has no call any more.', otherwise: 'end' },
    refused: { description: 'The room is full, or there is none of that number.' },
  },
  results: {
    ...ANSWER_RESULTS,
    confid: { type: 'string', description: 'Id of the conference; empty when there is none of that number.' },
    number: { type: 'string', description: 'The number that others dial to get there.' },
    participantid: { type: 'string', description: 'Id of the participant.' },
  },
  waits: true,
  needsCall: 'connected',
  subject: 'room',
  run: async (context, { room: wanted, moderator, muted, binding, referred_by: by, report_as: party }) => {
    const { report, call } = context;
    const along = { ...(binding === '' ? {} : { binding }), ...(by === '' ? {} : { referredBy: by }) };
    const transfer = ownCallTo(call, 'enter a conference').enterRoom({ room: wanted, moderator, muted, ...along });
    const { acallid: callid, dialogid, provisional, room } = transfer;
    let entered = { confid: '', number: '', participantid: '' };
    const enter = (at: EnteredRoom | undefined): void => {
      if (at === undefined) return;
      entered = { confid: at.confid, number: at.number, participantid: at.participantid };
      if (party !== undefined) report({ milestone: `${party} entering`, callid, dialogid, fields: entered });
    };
    let { final } = transfer;
    if (room instanceof Promise) {
      final = final.then(async (result) => {
        enter(await room);
        return result;
      });
    } else enter(room);
    const attempt = { callid, dialogid, provisional, final };
    follow(context, attempt, wanted, party);
    const answer = await answerOf(final, context);
    return {
      exit: answer.status < 300 ? 'entered' : 'refused',
      fields: { ...answerFields(attempt, answer), ...entered },
    };
  },
});
