import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';

const limit = (by: string, example: string, description: string) =>
  Duration({ default: by, examples: [example], description });

export const detectMachine = defineComponent({
  name: 'detect_machine',
  summary: 'Tells a person from an answering machine, and waits for its beep.',
  otherNames: ['amd', 'answering_machine', 'machine_detection', 'voicemail_detection', 'avmd'],
  docs: [
    'It comes right after the answer of a called party: people greet shortly and wait, machines talk on. The settings and their',
    "defaults are those of Asterisk's application AMD. With `wait: end_of_greeting` the exit `machine` is taken when a message can be",
    'left: after the beep, after `end_silence`, or after `end_timeout`. A single tone at the beginning, as of a fax, is a machine, too.',
    'A person who waits in silence counts as a machine (`initial_silence`), as with Asterisk.',
    'Nothing is played meanwhile, so a person hears silence for `after_greeting_silence`. In a scenario for `pre_answer` of `call`,',
    '`hunt` and `refer`, it keeps calls from mailboxes: `return: false` for a machine, and the others ring on.',
    'In tests, a phone that `says` something up to `greeting` is human; longer speech, or none, is a machine, and `beeps` ends its',
    'greeting.',
  ].join('\n'),
  settings: Type.Object({
    wait: Type.Enum(['decision', 'end_of_greeting'], {
      default: 'decision',
      examples: ['end_of_greeting'],
      description: 'How long the block lasts for a machine.',
    }),
    initial_silence: limit('2500ms', '2500ms', 'Silence at the beginning that makes it a machine.'),
    greeting: limit('1500ms', '1500ms', 'Speech of this length makes it a machine.'),
    after_greeting_silence: limit('800ms', '800ms', 'Silence after shorter speech makes it a person.'),
    total_analysis_time: limit('5s', '5s', 'Without a decision in this time, the exit is `unsure`.'),
    min_word_length: limit('100ms', '100ms', 'Shorter sounds are no words.'),
    maximum_word_length: limit('5s', '5s', 'Sound of this length without a pause makes it a machine.'),
    between_words_silence: limit('50ms', '50ms', 'Silence that parts two words.'),
    maximum_number_of_words: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 2,
      description: 'More words make it a machine.',
    }),
    silence_threshold: Type.Integer({
      minimum: 1,
      maximum: 32_767,
      default: 256,
      description: 'Mean amplitude of 16-bit samples, above which the line is not silent.',
    }),
    end_silence: limit('2500ms', '2500ms', 'Silence that ends the greeting of a machine without a beep.'),
    end_timeout: limit('30s', '30s', 'How long the greeting of a machine may last after the decision.'),
  }),
  shorthand: 'wait',
  exits: {
    human: { description: 'A person.' },
    machine: { description: 'A machine.' },
    unsure: { description: 'Neither was clear in `total_analysis_time`.', otherwise: 'human' },
  },
  results: {
    result: { type: 'string', description: '`human`, `machine` or `unsure`.' },
    cause: {
      type: 'string',
      description:
        '`short_greeting` (human); `initial_silence`, `long_greeting`, `many_words`, `long_word`, `beep` (machine); `total_time` (unsure).',
    },
    end: { type: 'string', description: 'End of the greeting: `beep`, `silence`, `timeout`; empty if not waited for.' },
    milliseconds: { type: 'integer', description: 'From the beginning to the exit.' },
    silence_ms: { type: 'integer', description: 'Silence before the first word.' },
    greeting_ms: { type: 'integer', description: 'Speech until the decision.' },
    words: { type: 'integer', description: 'Words until the decision.' },
  },
  waits: true,
  needsCall: 'connected',
  run: async ({ call, signal }, settings) => {
    const ms = (text: string): number => parseDuration(text) ?? 0;
    const found = await call.detectMachine({
      signal,
      initialSilenceMs: ms(settings.initial_silence),
      greetingMs: ms(settings.greeting),
      afterGreetingSilenceMs: ms(settings.after_greeting_silence),
      totalMs: ms(settings.total_analysis_time),
      minWordMs: ms(settings.min_word_length),
      maxWordMs: ms(settings.maximum_word_length),
      betweenWordsMs: ms(settings.between_words_silence),
      maxWords: settings.maximum_number_of_words,
      silenceThreshold: settings.silence_threshold,
      endMs: settings.wait === 'end_of_greeting' ? ms(settings.end_timeout) : undefined,
      endSilenceMs: ms(settings.end_silence),
    });
    const { result, cause, end = '', milliseconds, silenceMs, greetingMs, words } = found;
    const fields = { result, cause, end, milliseconds, silence_ms: silenceMs, greeting_ms: greetingMs, words };
    return { exit: result, fields };
  },
});
