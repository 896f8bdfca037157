import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Sounds } from '../../runtime/language/index.ts';

export const play = defineComponent({
  name: 'play',
  summary: 'Plays sounds to the other party.',
  otherNames: ['prompt', 'playback', 'audio', 'announce', 'play_file', 'playfile', 'sound'],
  docs: [
    'A sound is a [prompt](../../docs/scenarios/prompts.md) in the language of the run (`welcome`, or a file `welcome.wav` of the',
    'folder `prompts`), an `https` URL, `tone:<teletone>` (FreeSWITCH tone_stream syntax, e.g. `tone:%(200,100,800)`),',
    '`silence:<duration>`, or `say:<text>`, which is spoken (see `say`), with a language `say[de]:<text>`. Several are played one',
    'after another.',
  ].join('\n'),
  settings: Type.Object({
    sounds: Sounds({ examples: ['welcome.wav'], description: 'A sound or a list of sounds.' }),
    repeat: Type.Integer({ minimum: 1, maximum: 1000, default: 1, description: 'How often the whole list is played.' }),
    stop_digits: Type.String({
      pattern: '^[0-9*#A-D]*$',
      default: '',
      examples: ['0123456789*#'],
      description: 'Digits that end the playback.',
    }),
  }),
  shorthand: 'sounds',
  exits: {
    next: { description: 'Everything has been played.' },
    digit: {
      description: 'One of `stop_digits` was pressed.',
      otherwise: 'next',
      when: ({ stop_digits: digits }) => digits !== '',
    },
  },
  results: { digit: { type: 'string', description: 'The digit that ended the playback, else empty.' } },
  waits: true,
  aliases: { file: 'sounds', files: 'sounds' },
  needsCall: 'connected',
  subject: 'sounds',
  run: async ({ call, signal, sounds: find }, { sounds, repeat, stop_digits: stopDigits }) => {
    const { digit } = await call.play(await find(sounds), { signal, stopDigits, repeat });
    return { exit: digit === undefined ? 'next' : 'digit', fields: { digit: digit ?? '' } };
  },
});
