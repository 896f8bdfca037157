import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { CURRENCY, isTimezone, type Value } from '../../runtime/language/index.ts';
import { KINDS, spoken } from './words.ts';

export const phrase = defineComponent({
  name: 'phrase',
  summary: 'Speaks a number, digits, an amount of money, a date, a time or a duration.',
  otherNames: ['say_number', 'say_digits', 'say_date', 'say_money', 'spell', 'say_as'],
  docs: [
    'The value is spoken in the language of the run, in the order and with the words of that language (CLDR). When the domain or',
    'the folder `prompts` has a [prompt](../../docs/scenarios/prompts.md#phrases-from-prompts) for every part, such as `digits/4`,',
    'these are played. Otherwise the speech engine says the text, as `say` does.',
  ].join('\n'),
  settings: Type.Object({
    value: Type.Any({
      examples: ['${balance}'],
      description:
        'A number; digits as a text; a time as ISO 8601 or milliseconds since the epoch, e.g. `${now}`; a duration in seconds.',
    }),
    as: Type.Enum([...KINDS], { default: 'number', description: 'What the value is.' }),
    currency: Type.String({
      pattern: `^$|${CURRENCY.source}`,
      default: '',
      examples: ['EUR'],
      description: 'Of `money`: its code (ISO 4217).',
    }),
    timezone: Type.String({
      maxLength: 64,
      default: '',
      examples: ['Europe/Berlin'],
      description: 'Of `date`, `time` and `datetime`; default: UTC.',
    }),
    stop_digits: Type.String({
      pattern: '^[0-9*#A-D]*$',
      default: '',
      examples: ['0123456789*#'],
      description: 'Digits that end the phrase.',
    }),
  }),
  shorthand: 'value',
  exits: {
    next: { description: 'Everything has been said.' },
    digit: {
      description: 'One of `stop_digits` was pressed.',
      otherwise: 'next',
      when: ({ stop_digits: digits }) => digits !== '',
    },
  },
  results: {
    text: { type: 'string', description: 'What was said, as a text.' },
    digit: { type: 'string', description: 'The digit that ended the phrase, else empty.' },
  },
  check: ({ as, currency, timezone }) => [
    ...(as === 'money' && (currency ?? '') === '' ? ['"money" has no currency, e.g. currency: EUR'] : []),
    ...(typeof timezone === 'string' && timezone !== '' && !isTimezone(timezone)
      ? [`there is no time zone "${timezone}"`]
      : []),
  ],
  waits: true,
  needsCall: 'connected',
  subject: 'value',
  run: async ({ call, signal, language, recorded }, { value, as, currency, timezone, stop_digits: stopDigits }) => {
    const { text, prompts } = spoken(value as Value, as, { language, currency, timezone });
    const sources = prompts.length === 0 ? undefined : await recorded(prompts);
    const { digit } =
      sources === undefined
        ? await call.say(text, { signal, stopDigits, language })
        : await call.play(sources, { signal, stopDigits, repeat: 1 });
    return { exit: digit === undefined ? 'next' : 'digit', fields: { text, digit: digit ?? '' } };
  },
});
