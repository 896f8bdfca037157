import { Type } from 'typebox';
import { defineComponent, liveDialog } from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';

export const recordCall = defineComponent({
  name: 'record_call',
  summary: 'Pauses or resumes the recording of a live call, or makes another of one side or of both.',
  docs: [
    'The rules of a domain record its calls. `pause` writes silence into that recording until `resume`; both need a rule that',
    'permits it. `add` makes an extra recording under a name (`layer`): of one side, or, where none is named, of both, the',
    'caller left and the called party right. It goes with its side (of both: with the caller) through transfers. It ends by',
    '`remove`, after `timeout`, or with that side’s call. Use `record` to record what a caller says to the scenario.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: Type.String({ minLength: 1, maxLength: 64, examples: ['4f1c09d2ab7e'], description: 'The live call.' }),
    command: Type.Enum(['add', 'remove', 'pause', 'resume'], { examples: ['pause'], description: 'What to do.' }),
    layer: Type.String({
      minLength: 1,
      maxLength: 64,
      default: 'default',
      description: 'Name, for `add` and `remove`; one of the same name is replaced.',
    }),
    callid: Type.String({
      maxLength: 256,
      default: '',
      description: 'Call-ID of the side that is recorded alone, for `add`; empty: both sides.',
    }),
    timeout: Duration({ default: '2h', examples: ['2h'], description: 'For `add`: ends by itself after that.' }),
  }),
  exits: { next: { description: 'It is done.' } },
  results: {},
  run: async ({ services, domain }, { dialogid, command, layer, callid, timeout }) => {
    const { callRecording: recording } = services;
    liveDialog(services, domain, dialogid);
    switch (command) {
      case 'pause':
        await recording.pause(domain, dialogid);
        break;
      case 'resume':
        await recording.resume(domain, dialogid);
        break;
      case 'remove':
        await recording.removeLayer(domain, dialogid, layer);
        break;
      case 'add': {
        const timeoutMs = parseDuration(timeout) ?? 0;
        const side = callid === '' ? undefined : callid;
        await recording.addLayer({ domain, dialogid, callid: side, layer, timeoutMs });
        break;
      }
      default:
        command satisfies never;
    }
    return { exit: 'next' };
  },
});
