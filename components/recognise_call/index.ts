import { Type } from 'typebox';
import { defineComponent, liveDialog } from '../../runtime/runs/index.ts';
import { Language } from '../recognise/index.ts';

export const recogniseCall = defineComponent({
  name: 'recognise_call',
  summary: 'Recognises the speech of one side of a live call, while the call goes on.',
  docs: [
    '`add` begins to listen under a name (`layer`); the texts come as events `asrevents.result` with `dialogid`, `layer`, `text`',
    'and `final`. `remove` ends that and gives all of the text. A layer goes with its side through transfers, and ends with that',
    'side’s call. Use `recognise` to understand the caller of the scenario itself.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: Type.String({ minLength: 1, maxLength: 64, examples: ['4f1c09d2ab7e'], description: 'The live call.' }),
    command: Type.Enum(['add', 'remove'], { examples: ['add'], description: 'What to do.' }),
    layer: Type.String({
      minLength: 1,
      maxLength: 64,
      examples: ['agent'],
      description: 'Name; one of the same name is replaced.',
    }),
    callid: Type.String({
      maxLength: 256,
      default: '',
      description: 'Call-ID of the side, for `add`; empty: who called.',
    }),
    language: Language,
    wait: Type.Boolean({ default: true, description: 'For `remove`: waits some seconds for the last words.' }),
  }),
  exits: { next: { description: 'It is done.' } },
  results: { text: { type: 'string', description: 'After `remove`: all that was understood.' } },
  waits: true,
  run: async ({ services, domain }, { dialogid, command, layer, callid, language, wait }) => {
    const { callSpeech: speech } = services;
    const { legs } = liveDialog(services, domain, dialogid);
    if (command === 'remove') {
      return { exit: 'next', fields: { text: await speech.removeLayer(domain, dialogid, layer, wait) } };
    }
    const leg = callid === '' ? (legs[0]?.callid ?? '') : callid;
    await speech.addLayer({ domain, dialogid, callid: leg, layer, language: language === '' ? undefined : language });
    return { exit: 'next' };
  },
});
