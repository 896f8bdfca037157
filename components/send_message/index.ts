import { Type } from 'typebox';
import { type Answer, defineComponent, MAX_TEXT_OCTETS } from '../../runtime/runs/index.ts';
import { ScenarioError } from '../../runtime/language/index.ts';
import { untilSettled } from '../until-settled.ts';

const TOO_LONG = `a text has ${MAX_TEXT_OCTETS} octets of UTF-8 at most`;

export const sendMessage = defineComponent({
  name: 'send_message',
  summary: 'Sends a text to the phones of a sipuser, outside any call (SIP MESSAGE, RFC 3428).',
  otherNames: ['text', 'sms', 'message', 'send_text'],
  docs: [
    'Every registered phone of the sipuser gets it; one that takes it is enough. It needs no call, and does not affect the',
    "scenario's call. A phone has 20 seconds to answer. Texts that phones send start scenarios by the event",
    '`messageevents.received`. Within a call, use `send_sip` to write to the other party.',
  ].join('\n'),
  settings: Type.Object({
    to: Type.String({ minLength: 1, maxLength: 256, examples: ['101'], description: 'Number or login of a sipuser.' }),
    text: Type.String({
      minLength: 1,
      maxLength: MAX_TEXT_OCTETS,
      examples: ['Your table is ready'],
      description: `What it says: ${MAX_TEXT_OCTETS} octets of UTF-8 at most.`,
    }),
    from: Type.String({
      minLength: 1,
      maxLength: 128,
      examples: ['100'],
      description: 'Number or login shown as the sender: answers go there.',
    }),
    from_name: Type.String({ maxLength: 128, default: '', description: 'Name shown beside it.' }),
  }),
  exits: {
    delivered: { description: 'A phone has it (2xx).' },
    refused: { description: 'All phones refuse it.' },
    unreachable: {
      description: 'Nobody of that name (404), no phone registered (480), no answer (408), no way to it (503).',
      otherwise: 'refused',
    },
  },
  results: {
    status: { type: 'integer', description: 'SIP status of the answer.' },
    last_response: { type: 'string', description: 'Its status line.' },
  },
  waits: true,
  subject: 'to',
  check: ({ text }) => (typeof text === 'string' && Buffer.byteLength(text) > MAX_TEXT_OCTETS ? [TOO_LONG] : []),
  run: async ({ services, domain, signal, answered }, { to, text, from, from_name: fromName }) => {
    if (Buffer.byteLength(text) > MAX_TEXT_OCTETS)
      throw new ScenarioError(
        'text_too_long',
        `${TOO_LONG}, and this one ${Buffer.byteLength(text)}: send it in parts`,
      );
    const answer = await untilSettled(services.texts.send(domain, { from, fromName, to, text }), signal);
    answered(to, answer);
    return { exit: exitOf(answer), fields: { status: answer.status, last_response: answer.line } };
  },
});

function exitOf({ status, local }: Answer): 'delivered' | 'refused' | 'unreachable' {
  if (status < 300) return 'delivered';
  return local ? 'unreachable' : 'refused';
}
