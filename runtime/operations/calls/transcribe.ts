import { Type } from 'typebox';
import { defineOperation } from '../definition.ts';

/** Transcribes a recorded call (specification, "TRANSCRIBE"). */
export const transcribeOperation = defineOperation({
  name: 'transcribe',
  summary:
    'Queues the transcription of a recorded call; the event `ccsevents.connection_set_asr` tells when it is done.',
  parameters: Type.Object({
    idconn: Type.String({ minLength: 1, maxLength: 128, description: '`connectionid` of the call.' }),
    reclink: Type.String({ minLength: 1, maxLength: 512, description: 'Location of the recording.' }),
  }),
  response: Type.Object({ result: Type.Literal('ok') }),
  example: {
    idconn: '0a1b2c3d-0000-4000-8000-000000000000',
    reclink: 'fs://main/demo.local/2026/11/21/5e6f7a8b-0000-4000-8000-000000000000.wav',
  },
  target: 'none',
  http: { on: 'calls', paths: ['domain'] },
  startsCall: false,
  scenario: 'transcribe',
  plan: async ({ runServices }, { scope, parameters: { idconn, reclink } }) => {
    await runServices.transcripts.checkRequest(scope.domain, idconn, reclink);
    return { touches: () => [], args: { idconn, reclink } };
  },
});
