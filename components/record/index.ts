import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';

export const record = defineComponent({
  name: 'record',
  summary: 'Records the other party.',
  otherNames: ['voicemail', 'recording', 'record_message'],
  docs: [
    'Play the recording by `play: ${blockname.recording}`. Most callers hang up to finish: the recording stays, and `finally` reads',
    "`blockname.recording` and `blockname.milliseconds`. In a module `call.record` returns them with the reason `'hangup'`, and",
    'the next function that needs the call throws `call_ended`. When the other party transfers the call meanwhile, the new party',
    'is recorded after it.',
  ].join('\n'),
  settings: Type.Object({
    max: Duration({ default: '2m', examples: ['2m'], description: 'Longest recording.' }),
    silence: Duration({
      default: '5s',
      examples: ['5s'],
      description: 'Silence that ends it, rounded to whole seconds; `0s`: none does.',
    }),
    stop_digits: Type.String({
      pattern: '^[0-9*#A-D]*$',
      default: '#',
      examples: ['#'],
      description: 'Digits that end it.',
    }),
    beep: Type.Boolean({ default: true, description: 'Whether a beep comes first.' }),
  }),
  exits: { next: { description: 'There is a recording.' } },
  results: {
    recording: { type: 'string', description: 'The recording, as `play` takes it.' },
    milliseconds: { type: 'integer', description: 'How long it is, without the silence that ended it.' },
    reason: {
      type: 'string',
      description: 'What ended it; `hangup`: the end of the call.',
      values: ['digit', 'silence', 'limit', 'hangup'],
    },
    digit: { type: 'string', description: 'The digit that ended it, else empty.' },
  },
  hangUpExit: 'next',
  waits: true,
  needsCall: 'connected',
  run: async (context, { max, silence, stop_digits: stopDigits, beep }) => {
    const { call, services, domain, signal, clock, result } = context;
    const name = context.nameRecording();
    const file = await services.recordings.create(domain, name);
    if (beep) await call.play([{ tone: '%(300,0,1000)' }], { signal });
    const start = clock.now();
    const maxMs = parseDuration(max) ?? 0;
    const fields = { recording: `recording:${name}`, reason: 'hangup', digit: '' };
    try {
      const { milliseconds, reason, digit } = await call.record({
        signal,
        file,
        maxMs,
        silenceMs: parseDuration(silence) ?? 0,
        stopDigits,
      });
      return { exit: 'next', fields: { ...fields, milliseconds, reason, digit: digit ?? '' } };
    } catch (error) {
      // Interrupted: the recording so far is kept.
      if (signal.aborted) result({ ...fields, milliseconds: Math.min(clock.now() - start, maxMs) });
      throw error;
    }
  },
});
