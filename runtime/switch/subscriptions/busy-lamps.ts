/** Who is in which call: the event package `dialog`. */
import type { Directory } from '../../domain/index.ts';
import { AdoptedDialog } from '../adopted/adopted-dialog.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { Leg } from '../legs/leg.ts';
import { shownParty } from '../legs/shown-caller.ts';
import { DIALOG_INFO, dialogInfo, type WatchedCall } from './dialog-info.ts';
import type { Elsewhere, EventPackage } from './event-package.ts';
import { sipUserPackage } from './sipuser-package.ts';

const EVENT = 'dialog';

type Call = CallDialog | AdoptedDialog;

/** Follows the calls of sipusers, and tells those who watch them. */
export class BusyLamps {
  readonly #changed: (sipUserId: string) => void;
  /** Live calls by sipuser. */
  readonly #calls = new Map<string, Set<Call>>();
  /** Sipusers by call. */
  readonly #parties = new Map<Call, ReadonlySet<string>>();

  /** @param changed called with a sipuser whose calls have changed */
  constructor(changed: (sipUserId: string) => void) {
    this.#changed = changed;
  }

  /** A call has begun or changed. */
  changed(call: Call): void {
    this.#follow(call, new Set(sipUsersOf(call)));
  }

  /** A call is over, or in no list for the time being. */
  gone(call: Call): void {
    this.#follow(call, new Set());
  }

  /** True for a sipuser with an answered call. */
  isOnThePhone(sipUserId: string): boolean {
    return [...(this.#calls.get(sipUserId) ?? [])].some(
      (call) => call instanceof AdoptedDialog || call.state === 'dialog',
    );
  }

  /** Every sipuser may watch those of its domain. */
  package(directory: Directory, elsewhere: Elsewhere<readonly WatchedCall[]>): EventPackage {
    const made = sipUserPackage(directory, { name: EVENT, type: DIALOG_INFO }, (watched, uri) => {
      const told = watched === undefined ? [] : [...this.#callsOf(watched.id), ...elsewhere(watched.id).flat()];
      // Of a call that another node has adopted, the dead one has told, too.
      const calls = told.filter(({ callid }, at) => told.findIndex((each) => each.callid === callid) === at);
      return (version) => dialogInfo(uri, version, calls);
    });
    return { ...made, own: (id) => (this.#calls.has(id) ? this.#callsOf(id) : undefined) };
  }

  #follow(call: Call, parties: ReadonlySet<string>): void {
    const before = this.#parties.get(call) ?? new Set();
    for (const id of parties) this.#calls.set(id, (this.#calls.get(id) ?? new Set()).add(call));
    for (const id of before) {
      if (parties.has(id)) continue;
      const calls = this.#calls.get(id);
      if (calls?.delete(call) === true && calls.size === 0) this.#calls.delete(id);
    }
    if (parties.size === 0) this.#parties.delete(call);
    else this.#parties.set(call, parties);
    for (const id of new Set([...before, ...parties])) this.#changed(id);
  }

  #callsOf(id: string): readonly WatchedCall[] {
    return [...(this.#calls.get(id) ?? [])].flatMap((call) => {
      if (call instanceof AdoptedDialog) return adoptedCalls(call, id);
      return call.legs.flatMap(({ leg, side }) =>
        leg.party.kind === 'sipuser' && leg.party.sipUser.id === id ? (watchedCall(call, leg, side) ?? []) : [],
      );
    });
  }
}

function sipUsersOf(call: Call): readonly string[] {
  if (call instanceof AdoptedDialog) return call.call.sides.flatMap(({ sipUserId }) => sipUserId ?? []);
  return call.legs.flatMap(({ leg: { party } }) => (party.kind === 'sipuser' ? [party.sipUser.id] : []));
}

/** Of a sipuser in a call of a dead node, which talks on. */
function adoptedCalls({ call: { sides } }: AdoptedDialog, id: string): readonly WatchedCall[] {
  return sides.flatMap(({ sipUserId, callid, sip, side }) => {
    const other = sides.find((each) => each.side !== side);
    if (sipUserId !== id || other === undefined) return [];
    const tags = sip === undefined ? [] : [{ local: sip.localTag, remote: sip.remoteTag }];
    return { callid, tags, initiator: side === 'a', state: 'confirmed', held: false, remote: other.shown };
  });
}

/** Undefined for a phone that does not ring yet: its lamp would show a call that may go elsewhere. */
function watchedCall(dialog: CallDialog, leg: Leg, side: 'a' | 'b'): WatchedCall | undefined {
  const others = dialog.legs.filter((each) => each.side !== side);
  const { callid, held, tags = [] } = leg;
  const answered = dialog.state === 'dialog';
  if (side === 'b' && !answered && tags.length === 0) return undefined;
  // While several phones ring, the caller's other side is the number that was dialled.
  const other = others.length === 1 || side === 'b' ? others[0]?.leg : undefined;
  const state = answered ? 'confirmed' : 'early';
  const remote = other === undefined ? { uri: dialog.dialled, name: undefined } : shownParty(other);
  return { callid, tags, initiator: side === 'a', state, held, remote };
}
