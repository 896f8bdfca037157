import { Type } from 'typebox';
import { defineComponent, ownCall } from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';
import { PRE_ANSWER_DOCS, preAnswerOf, preAnswerSettings } from '../pre-answer.ts';
import { checkRinging, RINGING_DOCS, ringingOf, ringingSettings, UNANSWERED_DOCS } from '../ringing.ts';
import { ANSWER_RESULTS, answerFields, answerOf, exitOf, follow, referredBy, reportAs } from '../answers.ts';

export const refer = defineComponent({
  name: 'refer',
  summary: 'Transfers the other party to a number (SIP REFER, RFC 3515).',
  otherNames: ['transfer', 'forward', 'transfer_to', 'blind_transfer'],
  docs: [
    'The target rings. When it answers, the two talk, and the scenario has no call any more.',
    "When the target does not take the call, the other party is back with the scenario. Digits after `'` or `,` in `to` are sent",
    "after the answer, every further `'` or `,` is a pause of one second.",
    ...RINGING_DOCS,
    ...PRE_ANSWER_DOCS,
    'The other phones of the target ring on meanwhile, until one of them accepts.',
    ...UNANSWERED_DOCS,
  ].join('\n'),
  settings: Type.Object({
    to: Type.String({ minLength: 1, maxLength: 256, examples: ['102'], description: 'Number of the target.' }),
    domain: Type.String({
      maxLength: 256,
      default: '',
      description:
        "Whose number that is, when not the scenario's own domain's: only for the way back to whom `take_over` took the party from.",
    }),
    back: Type.Boolean({
      default: false,
      description:
        'Return to the party that `take_over` left `held`, in the call that the two had. Only when it has hung up, `to` is called.',
    }),
    timeout: Type.Optional(
      Duration({ examples: ['30s'], description: 'How long the target may ring; default: as for any call.' }),
    ),
    ...ringingSettings,
    binding: Type.String({ maxLength: 256, default: '', description: 'Label attached to the new call.' }),
    referred_by: referredBy,
    withhold: Type.Boolean({
      default: false,
      description: "Show the target an anonymous caller, in place of the other party's number.",
    }),
    ...preAnswerSettings,
    report_as: reportAs('T'),
  }),
  shorthand: 'to',
  startsScenario: { scenario: 'pre_answer', args: 'pre_answer_args' },
  exits: {
    answered: {
      call: 'over',
      description: 'The target answered; the scenario has no call any more.',
      otherwise: 'end',
    },
    busy: { description: 'The target is busy (486, 600).', otherwise: 'refused' },
    no_answer: { description: 'Nobody answered in time or is there (408, 480).', otherwise: 'refused' },
    refused: { description: 'Any other refusal.' },
  },
  results: ANSWER_RESULTS,
  waits: true,
  needsCall: 'any',
  subject: 'to',
  check: (settings, _exits, given) => checkRinging(given, settings),
  run: async (context, settings) => {
    const preAnswer = await preAnswerOf(context, settings);
    const ringing = await ringingOf(context, settings);
    context.signal.throwIfAborted();
    const transfer = ownCall(context.call, 'refer').refer({
      ...preAnswer,
      to: settings.to,
      ...ringing,
      ...(settings.back ? { back: true } : {}),
      ...(settings.withhold ? { withhold: true } : {}),
      ...(settings.domain === '' ? {} : { domain: settings.domain }),
      ...(settings.binding === '' ? {} : { binding: settings.binding }),
      ...(settings.referred_by === '' ? {} : { referredBy: settings.referred_by }),
      ...(settings.timeout === undefined ? {} : { timeoutMs: parseDuration(settings.timeout) ?? 0 }),
    });
    const { acallid: callid, dialogid, provisional, final } = transfer;
    const attempt = { callid, dialogid, provisional, final };
    follow(context, attempt, settings.to, settings.report_as);
    const answer = await answerOf(transfer.final, context, transfer);
    return { exit: exitOf(answer), fields: answerFields(attempt, answer) };
  },
});
