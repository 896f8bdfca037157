import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';

/** Teletone of the usual tones (ITU-T E.180, European cadences). */
const TONES = {
  dial: '%(1000,0,425)',
  ringback: '%(1000,4000,425)',
  busy: '%(500,500,425)',
  congestion: '%(250,250,425)',
  beep: '%(300,0,1000)',
} as const;

/** Milliseconds of one round of each. */
const ROUND_MS = { dial: 1000, ringback: 5000, busy: 1000, congestion: 500, beep: 300 } as const;

export const tone = defineComponent({
  name: 'tone',
  summary: 'Plays a signal tone.',
  docs: 'For tones of your own, `play: "tone:%(200,100,800)"`.',
  settings: Type.Object({
    tone: Type.Enum(['dial', 'ringback', 'busy', 'congestion', 'beep'], {
      default: 'beep',
      examples: ['busy'],
      description: 'Which tone.',
    }),
    duration: Type.Optional(
      Duration({ examples: ['5s'], description: 'How long, in whole rounds of the tone; default: one round.' }),
    ),
  }),
  shorthand: 'tone',
  exits: { next: { description: 'It has been played.' } },
  results: {},
  waits: true,
  needsCall: 'connected',
  subject: 'tone',
  run: async ({ call, signal }, { tone: name, duration }) => {
    const rounds = duration === undefined ? 1 : Math.ceil((parseDuration(duration) ?? 0) / ROUND_MS[name]);
    await call.play([{ tone: TONES[name] }], { signal, repeat: Math.max(1, rounds) });
    return { exit: 'next' };
  },
});
