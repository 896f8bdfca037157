/** Live conferences for operations. */
import type { ParticipantView, TopologyEntry } from '../../callstore/index.ts';
import type { Conferences, Room } from '../../conference/index.ts';
import { splitDtmfTail } from '../../runs/index.ts';
import { callFromConference } from '../placing/call-from-conference.ts';
import type { SwitchTools } from '../tools.ts';

/** End reason of a call that an operation ends. */
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

  refusesParticipant(confid: string, to: string): string | undefined {
    const room = this.#conferences.room(confid);
    return room === undefined ? undefined : refusal(this.#tools, room, to);
  }

  addParticipant(confid: string, to: string): { readonly participantid: string } | undefined {
    const room = this.#conferences.room(confid);
    const called = room && callFromConference(this.#tools, room, to);
    return called && { participantid: called.participant.participantid };
  }

  dialogs(confid: string, participantid?: string): readonly string[] {
    const room = this.#conferences.room(confid);
    const lines = room?.lines() ?? [];
    return lines.flatMap(([id, { dialogid }]) => (participantid === undefined || id === participantid ? dialogid : []));
  }

  removeParticipant(confid: string, participantid: string): boolean {
    const participant = this.#conferences.room(confid)?.participant(participantid);
    participant?.line?.hangUp(BY_OPERATION);
    return participant !== undefined;
  }
}

/** Why a number cannot be called from a room. An unknown number may be called: that call fails later. */
function refusal({ directory }: SwitchTools, room: Room, to: string): string | undefined {
  if (room.free < 1) return 'the conference is full';
  const { kind } = directory.route(room.address.domain, undefined, splitDtmfTail(to).number);
  return kind === 'conference' ? 'leads to a conference, which cannot take part in another' : undefined;
}
