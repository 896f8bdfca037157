import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, Sounds } from '../../runtime/language/index.ts';
import { SENSITIVE } from '../sensitive.ts';

/** A language tag; empty for the node's. */
export const Language = Type.String({
  pattern: '^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$',
  default: '',
  examples: ['en-US'],
  description: 'Language tag; empty: the one of the node.',
});

export const Hints = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  default: [],
  examples: [['yes', 'no']],
  maxItems: 500,
  description: 'Words and phrases that are expected; empty: anything.',
});

export const recognise = defineComponent({
  name: 'recognise',
  summary: 'Asks the other party a question and recognises the spoken answer.',
  otherNames: ['recognize', 'asr', 'listen', 'speech', 'speech_input'],
  docs: [
    'Name what the caller may say in `hints`: engines that support them recognise these words better, and no others. Without',
    'hints, the engine recognises any words. Keys pressed during the block wait for the next `collect`. In tests, `says` is the',
    'recognised text. `transcribe` transcribes recordings.',
  ].join('\n'),
  settings: Type.Object({
    prompt: Type.Optional(Sounds({ examples: ['menu.wav'], description: 'Played first.' })),
    hints: Hints,
    barge_in: Type.Boolean({
      default: true,
      description: 'Whether speech ends the prompt; if not, what is said during it is not heard.',
    }),
    timeout: Duration({
      default: '5s',
      examples: ['5s'],
      description: 'Silence after the prompt that leads to `silence`.',
    }),
    silence: Duration({ default: '1s', examples: ['1s'], description: 'Silence that ends what is said.' }),
    max: Duration({ default: '30s', examples: ['30s'], description: 'Longest answer.' }),
    language: Language,
    sensitive: SENSITIVE,
  }),
  exits: {
    heard: { description: 'Something was understood.' },
    silence: { description: 'Nobody said anything.' },
    failed: { description: 'Somebody spoke, and was not understood.', otherwise: 'silence' },
  },
  results: {
    text: { type: 'string', description: 'What was understood.' },
    milliseconds: { type: 'integer', description: 'How long was spoken.' },
  },
  sensitiveResults: ['text'],
  waits: true,
  needsCall: 'connected',
  subject: 'prompt',
  run: async ({ call, signal, sounds }, settings) => {
    const { prompt, hints, barge_in: bargeIn, timeout, silence, max, language, sensitive } = settings;
    const { outcome, text, milliseconds } = await call.listen({
      signal,
      prompt: prompt === undefined ? [] : await sounds(prompt),
      bargeIn,
      timeoutMs: parseDuration(timeout) ?? 0,
      silenceMs: parseDuration(silence) ?? 0,
      maxMs: parseDuration(max) ?? 0,
      language: language === '' ? undefined : language,
      hints,
      sensitive,
    });
    return { exit: outcome, fields: { text, milliseconds } };
  },
});
