import { asDomainName, type DomainName } from '../../runtime/domain-name/index.ts';
import type { CallStore } from '../../runtime/callstore/callstore.ts';
import { MemoryConferenceStore } from '../../runtime/callstore/memory-conference-store.ts';
import type { ConferenceControl } from '../../runtime/operations/index.ts';
import type { DialogPort, LiveDialog, Side } from '../../runtime/runs/ports/dialogs.ts';

/** No live dialogs. */
export const NO_CALLS: CallStore = {
  list: () => Promise.resolve([]),
  read: () => Promise.resolve(undefined),
  lookup: () => Promise.resolve([]),
};

/** No live conferences. */
export const NO_CONFERENCES = new MemoryConferenceStore(NO_CALLS);

/** The rooms of a node without conferences. */
export const NO_ROOMS: ConferenceControl = {
  participants: () => undefined,
  topology: () => undefined,
  changeTopology: () => Promise.resolve(undefined),
  terminate: () => false,
  refusesParticipant: () => undefined,
  addParticipant: () => undefined,
  dialogs: () => [],
  removeParticipant: () => false,
};

/** A directory without any accounts. */
export const NO_DIRECTORY = {
  sipUsersOfUser: () => [],
  sipUserByNumber: () => undefined,
  sipUserByLogin: () => undefined,
  sipUserById: () => undefined,
  route: () => ({ kind: 'reject', status: 404, reason: 'Not Found' }) as const,
  featureCode: () => undefined,
};

/** Dialogs between numbers, by id; labels are kept. */
export class MemoryDialogs implements DialogPort {
  readonly labels = new Map<string, readonly string[]>();
  readonly numbers = new Map<string, Readonly<Record<Side, string>>>();
  readonly forking = new Set<string>();

  find(_domain: DomainName, dialogid: string): LiveDialog | undefined {
    const numbers = this.numbers.get(dialogid);
    if (numbers === undefined) return undefined;
    return {
      dialogid,
      status: this.forking.has(dialogid) ? 'forking' : 'dialog',
      held: false,
      legs: (['a', 'b'] as const).map((side) => ({
        side,
        callid: `${side}-${dialogid}`,
        number: numbers[side],
        uris: [`<sip:${numbers[side]}@demo.local>`],
        domain: asDomainName('demo.local'),
        allowEvents: undefined,
        movable: true,
        joinable: true,
      })),
      bindings: this.labels.get(dialogid) ?? [],
      setBindings: (labels) => void this.labels.set(dialogid, labels),
      sendDtmf: () => true,
      notify: () => true,
      stopHoldMelody: () => Promise.resolve(true),
      terminate: () => void this.numbers.delete(dialogid),
    };
  }
}
