import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, Sounds } from '../../runtime/language/index.ts';
import { withinTime } from '../within-time.ts';

/** The default without a file: a soft chord every three seconds. */
export const MELODY = 'tone:v=-20;%(400,2600,349,440)';

export const holdMusic = defineComponent({
  name: 'hold_music',
  summary: 'Plays music until something happens, or for a while.',
  otherNames: ['music', 'moh', 'music_on_hold', 'hold'],
  docs: 'Name events under `on` to be interrupted by them, or give a `duration`.',
  settings: Type.Object({
    sounds: Sounds({ default: MELODY, examples: ['music.wav'], description: 'Played over and over.' }),
    duration: Type.Optional(Duration({ examples: ['20s'], description: 'How long; default: until interrupted.' })),
  }),
  shorthand: 'sounds',
  exits: { next: { description: 'The time is up.', otherwise: 'end' } },
  results: {},
  waits: true,
  needsCall: 'connected',
  run: async (context, { sounds, duration }) => {
    const { call, signal } = context;
    const sources = await context.sounds(sounds);
    const forEver = (until: AbortSignal): Promise<unknown> => call.play(sources, { signal: until, repeat: Infinity });
    if (duration === undefined) await forEver(signal);
    else await withinTime(context, duration, forEver);
    return { exit: 'next' };
  },
});
