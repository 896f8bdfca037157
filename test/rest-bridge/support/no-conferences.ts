import { type ConferenceOperations, conferenceOperations } from '../../../runtime/operations/index.ts';
import type { CallStore } from '../../../runtime/callstore/callstore.ts';
import { MemoryConferenceStore } from '../../../runtime/callstore/memory-conference-store.ts';

/** The conference operations of a node on which nobody confers. */
export function noConferences(calls: CallStore): ConferenceOperations {
  return conferenceOperations({
    store: new MemoryConferenceStore(calls),
    dialogs: { find: () => undefined },
    control: {
      participants: () => undefined,
      topology: () => undefined,
      changeTopology: () => Promise.resolve(undefined),
      terminate: () => false,
      refusesParticipant: () => undefined,
      addParticipant: () => undefined,
      dialogs: () => [],
      removeParticipant: () => false,
    },
  });
}
