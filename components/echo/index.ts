import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';

export const echo = defineComponent({
  name: 'echo',
  summary: 'Sends the other party its own voice back.',
  docs: 'Use it to test a line: the party hears its sound after the way to the media server and back.',
  settings: Type.Object({
    duration: Type.Optional(Duration({ examples: ['30s'], description: 'How long; default: until the call ends.' })),
  }),
  shorthand: 'duration',
  exits: { next: { description: 'The time is up.', otherwise: 'end' } },
  results: {},
  waits: true,
  needsCall: 'connected',
  run: async ({ call, signal, clock }, { duration }) => {
    if (duration === undefined) {
      await call.echo(signal);
      return { exit: 'next' };
    }
    const stop = new AbortController();
    const echoing = call.echo(AbortSignal.any([signal, stop.signal]));
    const time = clock.sleep(parseDuration(duration) ?? 0, AbortSignal.any([signal, stop.signal]));
    // The first of both to end stops the other; this stop is not a failure.
    await Promise.race([time, echoing]).finally(() => stop.abort());
    await Promise.allSettled([time, echoing]);
    return { exit: 'next' };
  },
});
