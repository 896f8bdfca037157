import type { RestDeps } from '../../../rest-bridge/deps.ts';
import type { CallStore } from '../../../runtime/callstore/callstore.ts';
import { MemoryConferenceStore } from '../../../runtime/callstore/memory-conference-store.ts';
import { NO_ROOMS } from '../../operations/support.ts';

/** The conferences of a node on which nobody confers. */
export function noConferences(calls: CallStore): Pick<RestDeps, 'conferences' | 'rooms'> {
  return { conferences: new MemoryConferenceStore(calls), rooms: NO_ROOMS };
}
