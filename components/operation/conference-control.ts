import type { ParticipantView, TopologyEntry } from '../../runtime/callstore/conference-view.ts';

/** What operations may ask of the live conferences of this node, and do to them. The switch implements it. */
export interface ConferenceControl {
  /** Undefined when there is no such conference; the same below. */
  participants(confid: string): readonly ParticipantView[] | undefined;
  topology(confid: string): readonly TopologyEntry[] | undefined;
  /**
   * Settles when the media server has done it.
   * @throws TopologyError when a command cannot be carried out: none was then
   */
  changeTopology(confid: string, commands: readonly TopologyEntry[]): Promise<readonly TopologyEntry[] | undefined>;
  /** BYE to every participant, CANCEL to everybody who still rings; false when there is no such conference. */
  terminate(confid: string): boolean;
  /** Calls somebody from the conference; gives his id without waiting for an answer. */
  addParticipant(confid: string, to: string): { readonly participantid: string } | 'full' | undefined;
  /** BYE or CANCEL; false when there is no such participant. */
  removeParticipant(confid: string, participantid: string): boolean;
}
