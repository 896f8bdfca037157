import type { ParticipantView, TopologyEntry } from '../callstore/conference-view.ts';
import type { Conferences } from '../conference/conferences.ts';
import { callFromConference } from './call-conference.ts';
import type { SwitchTools } from './tools.ts';

/** Why a call ends that an operation ends. */
const BY_OPERATION = 'Request Terminated';

/** The live conferences as operations on them see and change them. */
export class LiveConferences {
  readonly #tools: SwitchTools;
  readonly #conferences: Conferences;

  constructor(tools: SwitchTools) {
    this.#tools = tools;
    this.#conferences = tools.conferences;
  }

  participants(confid: string): readonly ParticipantView[] | undefined {
    return this.#conferences.room(confid)?.participants();
  }

  topology(confid: string): readonly TopologyEntry[] | undefined {
    return this.#conferences.room(confid)?.topology();
  }

  /** @throws TopologyError, MediaError */
  async changeTopology(
    confid: string,
    commands: readonly TopologyEntry[],
  ): Promise<readonly TopologyEntry[] | undefined> {
    return this.#conferences.room(confid)?.changeTopology(commands);
  }

  terminate(confid: string): boolean {
    const room = this.#conferences.room(confid);
    room?.terminate(BY_OPERATION);
    return room !== undefined;
  }

  addParticipant(confid: string, to: string): { readonly participantid: string } | 'full' | undefined {
    const room = this.#conferences.room(confid);
    if (room === undefined) return undefined;
    const called = callFromConference(this.#tools, room, to);
    return called === undefined ? 'full' : { participantid: called.participant.participantid };
  }

  removeParticipant(confid: string, participantid: string): boolean {
    const participant = this.#conferences.room(confid)?.participant(participantid);
    participant?.line?.hangUp(BY_OPERATION);
    return participant !== undefined;
  }
}
