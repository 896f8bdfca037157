import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const say = defineComponent({
  name: 'say',
  summary: 'Speaks a text to the other party.',
  otherNames: ['speak', 'tts', 'text_to_speech', 'talk', 'read_out'],
  docs: [
    'The media server speaks: the embedded one by espeak-ng, where it is installed. Without an engine the block leaves by `error`',
    'with the code `unavailable`. Every component that takes a sound also takes `say:<text>`. The engine reads numbers, dates and',
    'prices as usual in the language.',
  ].join('\n'),
  settings: Type.Object({
    text: Type.String({
      minLength: 1,
      maxLength: 4096,
      examples: ['You have ${n} messages'],
      description: 'The text.',
    }),
    language: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$',
        examples: ['en-GB'],
        description: 'Language tag (BCP 47); default: the run’s.',
      }),
    ),
    voice: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9_.+-]{1,64}$', examples: ['alan'], description: 'Name of a voice.' }),
    ),
    stop_digits: Type.String({
      pattern: '^[0-9*#A-D]*$',
      default: '',
      examples: ['0123456789*#'],
      description: 'Digits that end the speech.',
    }),
  }),
  shorthand: 'text',
  exits: {
    next: { description: 'Everything has been said.' },
    digit: {
      description: 'One of `stop_digits` was pressed.',
      otherwise: 'next',
      when: ({ stop_digits: digits }) => digits !== '',
    },
  },
  results: { digit: { type: 'string', description: 'The digit that ended the speech, else empty.' } },
  waits: true,
  needsCall: 'connected',
  subject: 'text',
  run: async ({ call, signal, language: own }, { text, language = own, voice, stop_digits: stopDigits }) => {
    const { digit } = await call.say(text, {
      signal,
      stopDigits,
      language,
      ...(voice === undefined ? {} : { voice }),
    });
    return { exit: digit === undefined ? 'next' : 'digit', fields: { digit: digit ?? '' } };
  },
});
