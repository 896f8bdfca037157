import { Type } from 'typebox';
import {
  checkedHeaders,
  type ComponentContext,
  defineComponent,
  DTMF_PROTOS,
  MAX_HEADER_VALUE,
  type OutgoingCall,
  ownCall,
} from '../../runtime/runs/index.ts';
import { Duration, parseDuration, ScenarioError } from '../../runtime/language/index.ts';
import { PRE_ANSWER_DOCS, preAnswerOf, preAnswerSettings } from '../pre-answer.ts';
import { checkRinging, RINGING_DOCS, ringingOf, ringingSettings, whileRinging } from '../ringing.ts';
import { ANSWER_RESULTS, answerFields, answerOf, exitOf, follow, reportAs } from '../answers.ts';

export const call = defineComponent({
  name: 'call',
  summary: 'Calls a party, which then is the other party of the scenario.',
  otherNames: ['dial', 'invite', 'originate'],
  docs: [
    'A scenario that has a caller calls further parties under names of its own: `leg: agent` beside `call`. Other blocks name',
    'their party by `leg: agent`, and `bridge` lets the two talk. All legs end with the scenario. Without a leg a run calls',
    'once, whether or not the party answers: to try again, or to call the next number of a list, use a leg there too.',
    '`mode` says how long the block waits: `final` until the called party answers or refuses, `provisional` until it rings,',
    "`finished` until the call is over, `async` not at all. Digits after `'` or `,` in `to` are sent after the answer, every",
    "further `'` or `,` is a pause of one second.",
    '`to` may be any number that a phone of the domain could dial, also a conference, past its PIN, or another scenario, whose',
    'opponent this one then is; a domain may have 100 such calls at once. To bring only the caller there, `conference`,',
    '`refer`, `run` and `serve` cost less.',
    'The waiting party of a call with a leg is the caller. A caller who is not answered yet gets 180, and hears `sounds` as early',
    'media (183). If the scenario ends without `answer` and `reject`, such a caller gets the best refusal, e.g. 486 when somebody was',
    'busy.',
    ...RINGING_DOCS,
    ...PRE_ANSWER_DOCS,
    'The other phones of the called party ring on meanwhile, until one of them accepts.',
  ].join('\n'),
  settings: Type.Object({
    to: Type.String({ minLength: 1, maxLength: 256, examples: ['101'], description: 'Number or login to call.' }),
    address: Type.Enum(['number', 'sipuser'], {
      default: 'number',
      description: 'What `to` is: a number, or the login of a sipuser.',
    }),
    caller_id: Type.Optional(
      Type.String({
        maxLength: 128,
        examples: ['100'],
        description:
          "Number shown to the called party; `anonymous` withholds it. With `leg`, by default that of the scenario's caller.",
      }),
    ),
    caller_name: Type.String({ maxLength: 128, default: '', description: 'Name shown to the called party.' }),
    timeout: Duration({ default: '30s', examples: ['30s'], description: 'How long it may ring.' }),
    mode: Type.Enum(['async', 'provisional', 'final', 'finished'], {
      default: 'final',
      description: 'How long the block waits.',
    }),
    use_intercom: Type.Boolean({
      default: false,
      description: 'Ask the phone to answer by itself, through the intercom featurecode.',
    }),
    binding: Type.String({ maxLength: 256, default: '', description: 'Label attached to the call.' }),
    headers: Type.Record(Type.String(), Type.String({ maxLength: MAX_HEADER_VALUE }), {
      default: {},
      examples: [{ 'X-Ticket': '4711' }],
      description: 'Further headers of the INVITE.',
    }),
    dtmf_proto: Type.Enum(DTMF_PROTOS, {
      default: 'rfc2833',
      description: 'How digits go to the called party: in the sound (RFC 4733), or as INFO requests.',
    }),
    ...ringingSettings,
    ...preAnswerSettings,
    report_as: reportAs('F'),
  }),
  startsScenario: { scenario: 'pre_answer', args: 'pre_answer_args' },
  exits: {
    answered: {
      call: 'up',
      description: 'The called party answered.',
      when: ({ mode }) => mode !== 'async' && mode !== 'finished',
      otherwise: 'next',
    },
    finished: {
      description: 'The called party answered, and the call is over (`finished`).',
      when: ({ mode }) => mode === 'finished',
    },
    next: {
      description: 'The call is on its way (`async`), or rings (`provisional`).',
      when: ({ mode }) => mode === undefined || mode === 'async' || mode === 'provisional',
    },
    busy: {
      description: 'The called party is busy (486, 600).',
      when: ({ mode }) => mode !== 'async',
      otherwise: 'refused',
    },
    no_answer: {
      description: 'Nobody answered in time or is there (408, 480).',
      when: ({ mode }) => mode !== 'async',
      otherwise: 'refused',
    },
    refused: { description: 'Any other refusal.', when: ({ mode }) => mode !== 'async' },
  },
  results: {
    ...ANSWER_RESULTS,
    milliseconds: { type: 'integer', description: 'How long the call lasted (`finished`).' },
  },
  waits: true,
  placesCall: true,
  beginsCall: true,
  subject: 'to',
  check: (settings, _exits, given, leg) => [
    ...(leg || given.has('caller_id')
      ? []
      : [
          '"call" without `leg` is for a scenario that has no caller: name caller_id, or a leg where there is a caller',
        ]),
    ...(!leg && given.has('sounds') ? ['`sounds` are for the caller, and "call" without `leg` has none'] : []),
    ...checkRinging(given, settings),
  ],
  run: async (context, settings) => {
    const callerNumber = callerNumberOf(context, settings.caller_id);
    const preAnswer = await preAnswerOf(context, settings);
    const ringing = await ringingOf(context, settings);
    if (settings.mode === 'finished') context.claimEnd(() => true);
    const outgoing: OutgoingCall = ownCall(context.call, 'call').dial({
      to: settings.to,
      mode: settings.address,
      callerNumber,
      callerName: settings.caller_name,
      timeoutMs: parseDuration(settings.timeout) ?? 0,
      useIntercom: settings.use_intercom,
      ...(settings.binding === '' ? {} : { binding: settings.binding }),
      headers: checkedHeaders(settings.headers),
      dtmfProto: settings.dtmf_proto,
      ...preAnswer,
    });
    follow(context, outgoing, settings.to, settings.report_as);
    if (settings.mode === 'async') return { exit: 'next', fields: answerFields(outgoing) };
    const next = settings.mode === 'provisional' ? outgoing.provisional : outgoing.final;
    const answer = await whileRinging(context, ringing, answerOf(next, context));
    if (answer.status >= 300 && context.ownCall !== context.call) context.ownCall?.own?.unreached(answer);
    const exit = exitOf(answer);
    if (settings.mode === 'finished' && exit === 'answered') {
      const milliseconds = await untilOver(context);
      return { exit: 'finished', fields: { ...answerFields(outgoing, answer), milliseconds } };
    }
    return { exit: exit === 'ringing' ? 'next' : exit, fields: answerFields(outgoing, answer) };
  },
});

/** @throws ScenarioError code `setting` */
function callerNumberOf({ caller }: ComponentContext, given: string | undefined): string {
  const number = given ?? caller?.number ?? '';
  if (given === undefined && number === '')
    throw new ScenarioError('setting', 'call: this run has no caller whose number could be shown; name caller_id');
  return number;
}

/** Waits for the end of the call. @returns its duration in milliseconds */
async function untilOver({ call: port, signal, clock }: ComponentContext): Promise<number> {
  const start = clock.now();
  const over = AbortSignal.any([signal, port.endSignal]);
  if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }));
  if (!port.endSignal.aborted) {
    await port.hangup();
    signal.throwIfAborted();
  }
  return clock.now() - start;
}
