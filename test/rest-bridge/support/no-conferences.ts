import { AgentDesk, MemoryQueues, systemClock } from '../../../runtime/runs/index.ts';
import type { RestDeps } from '../../../rest-bridge/deps.ts';
import type { CallStore } from '../../../runtime/callstore/callstore.ts';
import { MemoryConferenceStore } from '../../../runtime/callstore/memory-conference-store.ts';
import { NO_ROOMS } from '../../operations/support.ts';

/** The conferences, queues and agents of a node on which nobody confers or waits. */
export function noConferences(calls: CallStore): Pick<RestDeps, 'conferences' | 'rooms' | 'queues' | 'agents'> {
  return {
    conferences: new MemoryConferenceStore(calls),
    rooms: NO_ROOMS,
    queues: new MemoryQueues(),
    agents: new AgentDesk({ clock: systemClock }),
  };
}
