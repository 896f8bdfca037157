import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, Sounds } from '../../runtime/language/index.ts';

const KEY = /^[0-9*#A-D]$/;

export const menu = defineComponent({
  name: 'menu',
  summary: 'Lets the other party choose by pressing one key.',
  otherNames: ['ivr', 'choose', 'choice', 'options'],
  docs: [
    'The choices are the exits: every exit named by a key (`1`, `2`, `"*"`, `"#"`) is a choice. After a wrong key or',
    'silence the prompt is repeated, until `tries` are used up. Digits do not have to wait for the end of the prompt.',
  ].join('\n'),
  settings: Type.Object({
    intro: Type.Optional(
      Sounds({ examples: ['welcome.wav'], description: 'Played once before the first prompt; a key already counts.' }),
    ),
    prompt: Sounds({ examples: ['menu.wav'], description: 'Says what the choices are.' }),
    invalid: Type.Optional(Sounds({ examples: ['invalid.wav'], description: 'Played after a key that is no choice.' })),
    silence: Type.Optional(
      Sounds({ examples: ['nothing-heard.wav'], description: 'Played when no key came in time.' }),
    ),
    timeout: Duration({ default: '5s', examples: ['5s'], description: 'How long to wait for a key after the prompt.' }),
    tries: Type.Integer({
      minimum: 1,
      maximum: 20,
      default: 3,
      description: 'How often the prompt is played at most.',
    }),
  }),
  exits: { failed: { description: 'All tries are used up.' } },
  openExits: { pattern: KEY, description: 'A key: the choice.' },
  results: {
    digit: { type: 'string', description: 'The key that was chosen; the last wrong one after a failure.' },
    tries: { type: 'integer', description: 'How often the prompt was played.' },
  },
  check: (_, exits) =>
    [...exits].some((exit) => KEY.test(exit))
      ? []
      : ['"menu" has no choice: name an exit by a key, e.g. exits: {1: sales}'],
  waits: true,
  needsCall: 'connected',
  subject: 'prompt',
  run: async ({ call, signal, sounds, exits }, { intro, prompt, invalid, silence, timeout, tries }) => {
    const [prompts, first] = await Promise.all([sounds(prompt), sounds(intro ?? [])]);
    let before = first;
    let digits = '';
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const timeoutMs = parseDuration(timeout) ?? 0;
      ({ digits } = await call.collect({
        signal,
        prompt: [...before, ...prompts],
        min: 1,
        max: 1,
        timeoutMs,
        interDigitMs: timeoutMs,
        terminators: '',
      }));
      if (KEY.test(digits) && exits.has(digits)) return { exit: digits, fields: { digit: digits, tries: attempt } };
      before = await sounds((digits === '' ? silence : invalid) ?? []);
    }
    if (before.length > 0) await call.play(before, { signal });
    return { exit: 'failed', fields: { digit: digits, tries } };
  },
});
