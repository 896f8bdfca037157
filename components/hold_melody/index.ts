import { Type } from 'typebox';
import { defineComponent, DIALOG_ID, liveDialog, notApplicable } from '../../runtime/runs/index.ts';

export const holdMelody = defineComponent({
  name: 'hold_melody',
  summary: 'Stops the melody that the waiting party of any live call hears.',
  docs: [
    '`temporary` stops it for the present hold, and fails with the code `not_applicable` when nobody holds the call; `once` stops',
    'it, or keeps the next hold silent when nobody holds the call; `permanent` keeps every hold silent.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: DIALOG_ID,
    mode: Type.Enum(['temporary', 'once', 'permanent'], {
      default: 'temporary',
      description: 'For which holds.',
    }),
  }),
  exits: { next: { description: 'It is silent.' } },
  results: {},
  run: async ({ services, domain }, { dialogid, mode }) => {
    const stopped = await liveDialog(services, domain, dialogid).stopHoldMelody(mode);
    if (!stopped) throw notApplicable('mode', 'the call is not on hold');
    return { exit: 'next' };
  },
});
