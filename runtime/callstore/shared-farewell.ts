/** The end event of a conference or participant, which another node emits when this node dies. Plain JSON. */
import type { DomainName } from '../domain-name/index.ts';

/** The end of a participant, or of the conference. */
export interface SharedFarewell {
  /** Of the participant, or of the conference. */
  readonly id: string;
  readonly domain: DomainName;
  readonly type: 'conf_leave' | 'conf_end';
  readonly data: Readonly<Record<string, string>>;
  /** Ids of the users who may know. */
  readonly users: readonly string[];
}

/** Keeps the end events of this node's live conferences outside of the process, for the node that takes care of its death. */
export interface FarewellIndex {
  /** @param farewell asked for when it is written */
  changed(id: string, farewell: () => SharedFarewell): void;
  over(id: string): void;
  /**
   * Whether another node has told it, as this one stood still. Asked before `over`.
   * @returns a promise where the others have to be asked
   */
  endedElsewhere(id: string): boolean | Promise<boolean>;
}
