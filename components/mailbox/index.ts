import { Type } from 'typebox';
import {
  type ComponentContext,
  defineComponent,
  MESSAGE,
  RECORDING,
  type VoiceMessage,
} from '../../runtime/runs/index.ts';
import { ScenarioError, type Value } from '../../runtime/language/index.ts';

const NEEDS = { deposit: 'recording', heard: 'message', delete: 'message' } as const;
/** Settings of some actions. */
const USES = [
  { setting: 'recording', actions: '`action: deposit`' },
  { setting: 'message', actions: '`action: heard` and `action: delete`' },
] as const;
const GIVEN = 'given';

export const mailbox = defineComponent({
  name: 'mailbox',
  summary: 'Keeps voice messages in a mailbox: leaves, counts, plays and deletes them.',
  otherNames: ['voice_mailbox', 'voice_messages', 'message_box', 'mwi', 'message_lamp'],
  docs: [
    '`count` counts. `deposit` moves the `recording` of a block `record` into the mailbox. `next` gives the next message that this',
    'block has not given in this run, new ones first and the oldest first among them; `play: ${blockname.sound}` plays it.',
    '`heard` makes the `message` an old one, and `delete` deletes it.',
    '',
    'Every sipuser has a mailbox: its number, or its login. Other names are mailboxes without an owner. Phones that subscribe to',
    '`message-summary` show the number of messages, and light the message lamp while one is new: see',
    '[Desk phones](../../docs/operating/desk-phones.md). Messages survive restarts, are the same on all nodes of a database, and are',
    'at `/user/sip/voicemessages` and `/domain/voicemessages` of the REST service. The example `voicemail`, dialled as 502, takes',
    'messages, and plays them to their owner.',
  ].join('\n'),
  settings: Type.Object({
    mailbox: Type.String({
      minLength: 1,
      maxLength: 64,
      examples: ['102'],
      description: 'Number or login of its owner, or a name.',
    }),
    action: Type.Enum(['count', 'deposit', 'next', 'heard', 'delete'], {
      default: 'count',
      examples: ['next'],
      description: 'What to do.',
    }),
    recording: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        examples: ['${message.recording}'],
        description: 'For `deposit`: the recording, as `record` gave it.',
      }),
    ),
    milliseconds: Type.Integer({
      minimum: 0,
      default: 0,
      examples: ['${message.milliseconds}'],
      description: 'For `deposit`: how long it is.',
    }),
    from: Type.String({
      maxLength: 128,
      default: '',
      description: "For `deposit`: the caller's number; empty: of the other party.",
    }),
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        examples: ['${message.message}'],
        description: 'For `heard` and `delete`: the message, as `next` gave it.',
      }),
    ),
  }),
  shorthand: 'mailbox',
  exits: {
    next: { description: 'Done.' },
    empty: {
      description: '`next`: no further message. `heard`, `delete`: there is none of this name.',
      otherwise: 'next',
    },
    full: { description: '`deposit`: the mailbox is full; the recording stays.', otherwise: 'next' },
  },
  results: {
    new: { type: 'integer', description: 'New messages in the mailbox, afterwards.' },
    old: { type: 'integer', description: 'Heard messages in it.' },
    message: { type: 'string', description: '`next`, `deposit`: the message, else empty.' },
    sound: { type: 'string', description: '`next`: its sound, as `play` takes it.' },
    from: { type: 'string', description: '`next`: number of who left it.' },
    from_name: { type: 'string', description: '`next`: name of who left it; may be empty.' },
    at: { type: 'integer', description: '`next`: when, in milliseconds since the epoch.' },
    milliseconds: { type: 'integer', description: '`next`: how long it is.' },
  },
  waits: true,
  brief: true,
  subject: 'mailbox',
  check: ({ action }, _exits, given) => {
    // Computed: any of them.
    if (typeof action !== 'string') return [];
    const needed = action in NEEDS ? NEEDS[action as keyof typeof NEEDS] : undefined;
    const unused = USES.filter(({ setting }) => setting !== needed && given.has(setting));
    const wrong = unused.map(
      ({ setting, actions }) => `the setting \`${setting}\` is for ${actions}, this is \`action: ${action}\``,
    );
    return needed === undefined || given.has(needed)
      ? wrong
      : [`\`action: ${action}\` needs the setting \`${needed}\``, ...wrong];
  },
  run: async (context, settings) => {
    const { services, domain } = context;
    const { mailbox: name, action, message = '' } = settings;
    const done = async (exit: string, fields: Readonly<Record<string, Value>> = {}) => {
      const messages = await services.voicemail.list(domain, name);
      const fresh = messages.filter(({ heard }) => !heard).length;
      return { exit, fields: { new: fresh, old: messages.length - fresh, ...fields } };
    };
    if (action === 'count') return done('next');
    if (action === 'deposit') {
      const id = await deposit(context, settings);
      return id === undefined ? done('full') : done('next', { message: id });
    }
    if (action === 'next') {
      const found = nextOf(context.memory, await services.voicemail.list(domain, name));
      return found === undefined ? done('empty') : done('next', fieldsOf(found));
    }
    if (message === '') throw new ScenarioError('setting', `\`action: ${action}\` needs the setting \`message\``);
    const known =
      action === 'heard'
        ? await services.voicemail.mark(domain, name, message, true)
        : await services.voicemail.remove(domain, name, message);
    return done(known ? 'next' : 'empty');
  },
});

/** @returns undefined: the mailbox is full. @throws ScenarioError code `no_such_recording` */
async function deposit(
  { services, domain, caller }: ComponentContext,
  settings: { mailbox: string; recording?: string; from: string; milliseconds: number },
): Promise<string | undefined> {
  const { recording = '', from, milliseconds } = settings;
  const name = recording.startsWith(RECORDING) ? recording.slice(RECORDING.length) : recording;
  const file = services.recordings.find(domain, name);
  if (file === undefined) throw new ScenarioError('no_such_recording', `there is no recording "${name}"`);
  const number = from === '' ? (caller?.number ?? '') : from;
  const message = { number, name: caller?.number === number ? (caller.name ?? '') : '', file, milliseconds };
  const id = await services.voicemail.deposit(domain, settings.mailbox, message);
  if (id !== undefined) await services.recordings.remove(domain, name);
  return id;
}

/** The first message that the block has not given yet. */
function nextOf(memory: Map<string, Value>, messages: readonly VoiceMessage[]): VoiceMessage | undefined {
  const given = memory.get(GIVEN);
  const ids = typeof given === 'string' ? given.split(' ') : [];
  const found = messages.find(({ id }) => !ids.includes(id));
  if (found !== undefined) memory.set(GIVEN, [...ids, found.id].join(' '));
  return found;
}

function fieldsOf({ id, number, name, created, milliseconds }: VoiceMessage): Readonly<Record<string, Value>> {
  return { message: id, sound: `${MESSAGE}${id}`, from: number, from_name: name, at: created, milliseconds };
}
