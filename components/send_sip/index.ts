import { Type } from 'typebox';
import { defineComponent, MESSAGE_METHODS, ownCallTo } from '../../runtime/runs/index.ts';
import { ScenarioError } from '../../runtime/language/index.ts';
import { untilSettled } from '../until-settled.ts';

/** RFC 6665 section 8.2.1. */
const NO_EVENT = '"send_sip" with NOTIFY needs "event"';

export const sendSip = defineComponent({
  name: 'send_sip',
  summary: "Sends a SIP request within the call to the other party's phone: INFO, MESSAGE or NOTIFY.",
  otherNames: ['sip_message', 'info'],
  docs: [
    '`MESSAGE` (RFC 3428) shows a text on the phone, `INFO` (RFC 6086) carries data of an application, `NOTIFY` (RFC 6665)',
    'reports an event: name it by `event`, e.g. `talk` to make a phone resume its call. Requests of the phone within the call',
    'interrupt the scenario by `on: { sip: { INFO: BLOCK } }`, with `event.data.content_type` and `event.data.body`.',
  ].join('\n'),
  settings: Type.Object({
    method: Type.Enum(MESSAGE_METHODS, { default: 'MESSAGE', description: 'Which request.' }),
    body: Type.String({
      maxLength: 16_384,
      default: '',
      examples: ['Your turn comes next'],
      description: 'The content.',
    }),
    content_type: Type.String({
      pattern: '^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+(;[^\\r\\n]*)?$',
      default: 'text/plain',
      description: 'What kind of body it is.',
    }),
    event: Type.String({
      pattern: '^[A-Za-z0-9._-]{0,64}$',
      default: '',
      examples: [''],
      description: 'Event of a NOTIFY.',
    }),
    headers: Type.Record(
      Type.String({ pattern: '^(X-|P-)[A-Za-z0-9-]{1,60}$' }),
      Type.String({ pattern: '^[^\\r\\n]{0,512}$' }),
      {
        default: {},
        description: 'Header fields of your own: names begin with `X-` or `P-`.',
      },
    ),
  }),
  shorthand: 'body',
  exits: {
    next: { description: 'The phone has it (2xx).' },
    refused: { description: 'It does not take it, or is gone.', otherwise: 'next' },
  },
  results: {
    status: { type: 'integer', description: 'SIP status of the answer.' },
    last_response: { type: 'string', description: 'Its status line.' },
  },
  waits: true,
  check: ({ method, event }, _exits, given) =>
    method === 'NOTIFY' && (event === '' || !given.has('event')) ? [NO_EVENT] : [],
  needsCall: 'connected',
  run: async (context, { method, body, content_type: contentType, event, headers }) => {
    if (method === 'NOTIFY' && event === '') throw new ScenarioError('setting', NO_EVENT);
    const call = ownCallTo(context.call, 'be sent SIP messages');
    const own = event === '' ? {} : { Event: event, 'Subscription-State': 'active' };
    const answer = await untilSettled(
      call.sendMessage({ method, contentType, body, headers: { ...headers, ...own } }),
      context.signal,
    );
    context.answered('phone', answer);
    const fields = { status: answer.status, last_response: answer.line };
    return { exit: answer.status < 300 ? 'next' : 'refused', fields };
  },
});
