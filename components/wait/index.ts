import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';

export const wait = defineComponent({
  name: 'wait',
  summary: 'Does nothing for a while.',
  otherNames: ['sleep', 'pause', 'delay'],
  docs: 'The other party hears silence. Ends early only with the call.',
  settings: Type.Object({ duration: Duration({ examples: ['5s'], description: 'How long.' }) }),
  shorthand: 'duration',
  exits: { next: { description: 'The time is up.' } },
  results: {},
  waits: true,
  resumes: true,
  method: 'sleep',
  run: async ({ clock, signal }, { duration }) => {
    await clock.sleep(parseDuration(duration) ?? 0, signal);
    return { exit: 'next' };
  },
});
