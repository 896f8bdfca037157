import type { ParticipantView, TopologyEntry } from '../../callstore/index.ts';

/** Reads and changes the live conferences of this node for operations. The switch implements it. */
export interface ConferenceControl {
  /** Undefined when there is no such conference; the same below. */
  participants(confid: string): readonly ParticipantView[] | undefined;
  topology(confid: string): readonly TopologyEntry[] | undefined;
  /**
   * Settles when the media server has carried out the commands.
   * @throws TopologyError for an impossible command; none is carried out then
   */
  changeTopology(confid: string, commands: readonly TopologyEntry[]): Promise<readonly TopologyEntry[] | undefined>;
  /** BYE to every participant, CANCEL to every ringing phone; false when there is no such conference. */
  terminate(confid: string): boolean;
  /** Why a number cannot be called from the conference; undefined if it can. Calls nothing. */
  refusesParticipant(confid: string, to: string): string | undefined;
  /** Calls a number from the conference, without waiting for an answer. Undefined also when the conference is full. */
  addParticipant(confid: string, to: string): { readonly participantid: string } | undefined;
  /** Ids of the dialogs of all participants, ringing ones included, or of one participant. */
  dialogs(confid: string, participantid?: string): readonly string[];
  /** BYE or CANCEL; false when there is no such participant. */
  removeParticipant(confid: string, participantid: string): boolean;
}
