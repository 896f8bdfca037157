import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, Sounds } from '../../runtime/language/index.ts';
import { SENSITIVE } from '../sensitive.ts';

export const collect = defineComponent({
  name: 'collect',
  summary: 'Collects digits from the other party.',
  otherNames: ['input', 'gather', 'get_digits', 'read_digits', 'ask', 'dtmf', 'getdigits'],
  docs: [
    'The first digit interrupts the prompt. For one digit out of a few, `menu` is shorter. Ask for PINs and card numbers with',
    '`sensitive: true`, see [sensitive answers](../../docs/scenarios/data.md#sensitive-answers).',
  ].join('\n'),
  settings: Type.Object({
    prompt: Type.Optional(Sounds({ examples: ['enter-number.wav'], description: 'Played first.' })),
    min: Type.Integer({ minimum: 0, maximum: 64, default: 1, description: 'Fewest digits that count as an input.' }),
    max: Type.Integer({
      minimum: 1,
      maximum: 64,
      examples: [4],
      description: 'Digits after which the input is complete.',
    }),
    timeout: Duration({
      default: '5s',
      examples: ['5s'],
      description: 'Silence after the prompt that ends the input.',
    }),
    digit_timeout: Duration({
      default: '3s',
      examples: ['3s'],
      description: 'Silence between two digits that ends the input.',
    }),
    terminators: Type.String({
      pattern: '^[0-9*#A-D]*$',
      default: '#',
      examples: ['#'],
      description: 'Digits that end the input and are not part of it.',
    }),
    sensitive: SENSITIVE,
  }),
  exits: {
    next: { description: 'There is an input of at least `min` digits.' },
    timeout: { description: 'Fewer than `min` digits came.' },
  },
  results: {
    digits: { type: 'string', description: 'The digits, without the terminator.' },
    terminator: { type: 'string', description: 'The terminator that ended the input, else empty.' },
  },
  sensitiveResults: ['digits'],
  check: ({ min, max }) =>
    typeof min === 'number' && typeof max === 'number' && min > max ? ['"min" is more than "max"'] : [],
  waits: true,
  needsCall: 'connected',
  subject: 'prompt',
  run: async ({ call, signal, sounds }, settings) => {
    const { prompt, min, max, timeout, digit_timeout: interDigit, terminators, sensitive } = settings;
    const { digits, terminator } = await call.collect({
      signal,
      ...(prompt === undefined ? {} : { prompt: await sounds(prompt) }),
      min,
      max,
      timeoutMs: parseDuration(timeout) ?? 0,
      interDigitMs: parseDuration(interDigit) ?? 0,
      terminators,
      sensitive,
    });
    return { exit: digits.length >= min ? 'next' : 'timeout', fields: { digits, terminator: terminator ?? '' } };
  },
});
