import { Type } from 'typebox';
import type { OutgoingCall } from '../../runtime/interpreter/call-port.ts';
import { defineComponent } from '../../runtime/interpreter/component.ts';
import { parseDuration } from '../../runtime/interpreter/duration.ts';
import { DTMF_PROTOS } from '../../runtime/interpreter/ports/dtmf.ts';
import { Duration } from '../../runtime/interpreter/setting.ts';
import { checkedHeaders } from '../sip-headers.ts';
import { ANSWER_RESULTS, answerFields, answerOf, exitOf, follow, reportAs } from '../answers.ts';

export const call = defineComponent({
  name: 'call',
  summary: 'Calls somebody, who then is the other party of the scenario.',
  docs: [
    'For scenarios that start without a caller. `mode` says how long the block waits: `final` until the called party',
    "answers or refuses, `provisional` until it rings, `async` not at all. Digits after `'` or `,` in `to` are sent after",
    "the answer, every further `'` or `,` is a pause of one second.",
  ].join('\n'),
  settings: Type.Object({
    to: Type.String({ minLength: 1, maxLength: 256, examples: ['101'], description: 'Number or login to call.' }),
    address: Type.Enum(['number', 'sipuser'], {
      default: 'number',
      description: 'What `to` is: a number, or the login of a sipuser.',
    }),
    caller_id: Type.String({ maxLength: 128, examples: ['100'], description: 'Number shown to the called party.' }),
    caller_name: Type.String({ maxLength: 128, default: '', description: 'Name shown to the called party.' }),
    timeout: Duration({ default: '30s', examples: ['30s'], description: 'How long it may ring.' }),
    mode: Type.Enum(['async', 'provisional', 'final'], { default: 'final', description: 'How long the block waits.' }),
    use_intercom: Type.Boolean({
      default: false,
      description: 'Ask the phone to answer by itself, through the intercom featurecode.',
    }),
    binding: Type.String({ maxLength: 256, default: '', description: 'Label attached to the call.' }),
    headers: Type.Record(Type.String(), Type.String({ maxLength: 1024 }), {
      default: {},
      examples: [{ 'X-Ticket': '4711' }],
      description: 'Further headers of the INVITE.',
    }),
    dtmf_proto: Type.Enum(DTMF_PROTOS, {
      default: 'rfc2833',
      description: 'How digits go to the called party: in the sound (RFC 4733), or as INFO requests.',
    }),
    report_as: reportAs('F'),
  }),
  exits: {
    answered: { description: 'The called party answered.', when: ({ mode }) => mode !== 'async', otherwise: 'next' },
    next: {
      description: 'The call is on its way (`async`), or rings (`provisional`).',
      when: ({ mode }) => mode !== 'final',
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
  results: ANSWER_RESULTS,
  waits: true,
  run: async (context, settings) => {
    const outgoing: OutgoingCall = context.call.dial({
      to: settings.to,
      mode: settings.address,
      callerId: settings.caller_id,
      callerName: settings.caller_name,
      timeoutMs: parseDuration(settings.timeout) ?? 0,
      useIntercom: settings.use_intercom,
      ...(settings.binding === '' ? {} : { binding: settings.binding }),
      headers: checkedHeaders(settings.headers),
      dtmfProto: settings.dtmf_proto,
    });
    follow(context, outgoing, settings.to, settings.report_as);
    if (settings.mode === 'async') return { exit: 'next', fields: answerFields(outgoing) };
    const answer = await answerOf(settings.mode === 'final' ? outgoing.final : outgoing.provisional, context);
    const exit = exitOf(answer);
    return { exit: exit === 'ringing' ? 'next' : exit, fields: answerFields(outgoing, answer) };
  },
});
