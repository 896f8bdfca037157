import type { ParticipantView, TopologyEntry } from '../../callstore/index.ts';

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
  /** Why somebody cannot be called from the conference; undefined when he can. Nothing happens. */
  refusesParticipant(confid: string, to: string): string | undefined;
  /** Calls somebody from the conference; gives his id without waiting for an answer. Undefined also when it is full. */
  addParticipant(confid: string, to: string): { readonly participantid: string } | undefined;
  /** Calls by which participants are connected, or are being called: of the whole conference, or of one of them. */
  dialogs(confid: string, participantid?: string): readonly string[];
  /** BYE or CANCEL; false when there is no such participant. */
  removeParticipant(confid: string, participantid: string): boolean;
}
