import { Type } from 'typebox';
import { defineComponent, RECORDING } from '../../runtime/runs/index.ts';

export const deleteRecording = defineComponent({
  name: 'delete_recording',
  summary: 'Deletes a recording that `record` made.',
  otherNames: ['remove_recording', 'erase', 'unlink'],
  docs: [
    'Recordings stay until they are deleted. Keep their name (`${blockname.recording}`), e.g. in the data model, to play and',
    'delete them later, in any scenario of the domain. Over REST they are at `/api/recordings/NAME`.',
  ].join('\n'),
  settings: Type.Object({
    recording: Type.String({
      minLength: 1,
      maxLength: 256,
      examples: ['${message.recording}'],
      description: 'The recording, as `record` gave it.',
    }),
  }),
  shorthand: 'recording',
  exits: {
    next: { description: 'It is deleted.' },
    missing: { description: 'There is none of this name.', otherwise: 'next' },
  },
  results: {},
  subject: 'recording',
  run: async ({ services, domain }, { recording }) => {
    const name = recording.startsWith(RECORDING) ? recording.slice(RECORDING.length) : recording;
    return { exit: (await services.recordings.remove(domain, name)) ? 'next' : 'missing' };
  },
});
