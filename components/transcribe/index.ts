import { Type } from 'typebox';
import { type ComponentContext, defineComponent, type TranscriptSource } from '../../runtime/runs/index.ts';
import { Hints, Language } from '../recognise/index.ts';
import { SENSITIVE } from '../sensitive.ts';

const RECLINK = /^[a-z0-9]+:\/\//;

export const transcribe = defineComponent({
  name: 'transcribe',
  summary: 'Transcribes the speech in a recording.',
  docs: [
    'Takes a recording of `record` (`${blockname.recording}`), a prompt file, or a recorded call of the archive by its `reclink`.',
    'The recording of a call has a channel for each party; `channels` holds the text of each. With `queue`, a recorded call is',
    'put into the queue of the archive instead, `idconn` has to name its call, and the event `ccsevents.connection_set_asr`',
    'reports the result.',
  ].join('\n'),
  settings: Type.Object({
    recording: Type.String({
      minLength: 1,
      maxLength: 512,
      examples: ['${message.recording}'],
      description: 'What to transcribe.',
    }),
    hints: Hints,
    language: Language,
    queue: Type.Boolean({ default: false, description: 'Whether it is only queued.' }),
    idconn: Type.String({
      maxLength: 128,
      default: '',
      description: 'With `queue`: `connectionid` of the recorded call.',
    }),
    sensitive: SENSITIVE,
  }),
  shorthand: 'recording',
  exits: { next: { description: 'It is transcribed, or queued.' } },
  results: {
    text: { type: 'string', description: 'All that is said; a line for each channel.' },
    channels: {
      type: 'list',
      description: 'Text of each channel: `{channel, text}`.',
      schema: Type.Array(Type.Object({ channel: Type.Integer(), text: Type.String() })),
    },
  },
  sensitiveResults: ['text', 'channels'],
  check: ({ queue, sensitive }) =>
    queue === true && sensitive === true
      ? ['"queue" puts the text into the archive, where it can be read: leave out "sensitive", or "queue"']
      : [],
  waits: true,
  run: async ({ services, domain, signal, sounds }, { recording, hints, language, queue, idconn }) => {
    const { transcripts: port } = services;
    if (queue) {
      await port.request(domain, idconn, recording);
      return { exit: 'next' };
    }
    const source = await sourceOf(recording, sounds);
    const channels = await port.transcribe(source, {
      domain,
      signal,
      hints,
      language: language === '' ? undefined : language,
    });
    const text = channels.flatMap((each) => (each.text === '' ? [] : [each.text])).join('\n');
    return { exit: 'next', fields: { text, channels: channels.map((each) => ({ ...each })) } };
  },
});

/** True for the link of a recorded call; other texts are sounds, as in `play`. */
async function sourceOf(recording: string, sounds: ComponentContext['sounds']): Promise<TranscriptSource> {
  if (RECLINK.test(recording)) return { reclink: recording };
  const [source] = await sounds(recording);
  return source !== undefined && 'file' in source ? { file: source.file } : { file: recording };
}
