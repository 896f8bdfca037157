import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, listOf, ScenarioError } from '../../runtime/language/index.ts';
import { withinTime } from '../within-time.ts';

/** An address alone: nothing in it begins another header field or another recipient. */
const ADDRESS = '^[^\\s@<>(),;:"\\\\\\u0000-\\u001f\\u007f]{1,64}@[A-Za-z0-9.-]{1,253}$';
const MAX_RECIPIENTS = 20;

const Address = (more: object) => Type.String({ pattern: ADDRESS, ...more });
const Recording = (more: object) => Type.String({ minLength: 1, maxLength: 256, ...more });

export const email = defineComponent({
  name: 'email',
  summary: 'Sends an e-mail.',
  otherNames: ['mail', 'send_email', 'smtp', 'sendmail'],
  docs: [
    'It goes to the mail server of the [operator](../../docs/operating/settings.md) (`RINGMASTER_SMTP_URL`), from the address',
    '`RINGMASTER_MAIL_FROM`. It is handed over once and never tried again by itself. It needs no call; a caller waits in',
    'silence for at most `timeout`, so put it after the call, into `finally`, or into a scenario of its own.',
  ].join('\n'),
  settings: Type.Object({
    to: Type.Union([Address({}), Type.Array(Address({}), { minItems: 1, maxItems: MAX_RECIPIENTS })], {
      examples: ['office@example.com'],
      description: `Address, or up to ${MAX_RECIPIENTS} of them, which all recipients see.`,
    }),
    subject: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      examples: ['A message from ${call.number}'],
      description: 'The subject, one line.',
    }),
    text: Type.String({
      maxLength: 100_000,
      default: '',
      examples: ['Call back: ${call.number}'],
      description: 'The text.',
    }),
    attach: Type.Optional(
      Type.Union([Recording({}), Type.Array(Recording({}), { maxItems: 10 })], {
        examples: ['${message.recording}'],
        description: 'Recordings of `record`, sent as WAV files: 20 MiB in all.',
      }),
    ),
    timeout: Duration({ default: '10s', examples: ['10s'], description: 'For the whole exchange with the server.' }),
  }),
  exits: { next: { description: 'The server has it, for one recipient at least.' } },
  results: {
    id: { type: 'string', description: 'The Message-ID.' },
    accepted: { type: 'list', schema: Type.Array(Type.String()), description: 'Addresses that the server took.' },
    refused: { type: 'list', schema: Type.Array(Type.String()), description: 'Addresses that it refused.' },
  },
  waits: true,
  subject: 'subject',
  run: async (context, { to, subject, text, attach, timeout }) => {
    const { services, domain } = context;
    const attachments = listOf(attach ?? []).map((written) => {
      const name = written.replace(/^recording:/, '');
      const file = services.recordings.find(domain, name);
      if (file === undefined) throw new ScenarioError('no_such_recording', `there is no recording "${name}"`);
      return { name, file };
    });
    const mail = { to: listOf(to), subject, text, attachments };
    const sent = await withinTime(context, timeout, (signal) => services.mail.send(mail, signal));
    if (sent === undefined)
      throw new ScenarioError(
        'mail_timeout',
        `the mail server took longer than ${timeout}: it may have the mail or not`,
      );
    return { exit: 'next', fields: { id: sent.id, accepted: [...sent.accepted], refused: [...sent.refused] } };
  },
});
