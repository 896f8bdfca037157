/** Who is in which call: the event package `dialog`. */
import type { Directory } from '../../domain/index.ts';
import { ANONYMOUS, plainUri } from '../../signalling/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { CallingLeg, Leg } from '../legs/leg.ts';
import { shownCaller } from '../legs/shown-caller.ts';
import { DIALOG_INFO, dialogInfo, type WatchedCall } from './dialog-info.ts';
import type { Elsewhere, EventPackage } from './event-package.ts';
import { sipUserPackage } from './sipuser-package.ts';

const EVENT = 'dialog';

/** Follows the calls of sipusers, and tells those who watch them. */
export class BusyLamps {
  readonly #changed: (sipUserId: string) => void;
  /** Live calls by sipuser. */
  readonly #calls = new Map<string, Set<CallDialog>>();
  /** Sipusers by call. */
  readonly #parties = new Map<CallDialog, ReadonlySet<string>>();

  /** @param changed called with a sipuser whose calls have changed */
  constructor(changed: (sipUserId: string) => void) {
    this.#changed = changed;
  }

  /** A call has begun or changed. */
  changed(dialog: CallDialog): void {
    this.#follow(
      dialog,
      new Set(dialog.legs.flatMap(({ leg: { party } }) => (party.kind === 'sipuser' ? [party.sipUser.id] : []))),
    );
  }

  /** A call is over, or in no list for the time being. */
  gone(dialog: CallDialog): void {
    this.#follow(dialog, new Set());
  }

  /** True for a sipuser with an answered call. */
  isOnThePhone(sipUserId: string): boolean {
    return [...(this.#calls.get(sipUserId) ?? [])].some(({ state }) => state === 'dialog');
  }

  /** Every sipuser may watch those of its domain. */
  package(directory: Directory, elsewhere: Elsewhere<readonly WatchedCall[]>): EventPackage {
    const made = sipUserPackage(directory, { name: EVENT, type: DIALOG_INFO }, (watched, uri) => {
      const calls = watched === undefined ? [] : [...this.#callsOf(watched.id), ...elsewhere(watched.id).flat()];
      return (version) => dialogInfo(uri, version, calls);
    });
    return { ...made, own: (id) => (this.#calls.has(id) ? this.#callsOf(id) : undefined) };
  }

  #follow(dialog: CallDialog, parties: ReadonlySet<string>): void {
    const before = this.#parties.get(dialog) ?? new Set();
    for (const id of parties) this.#calls.set(id, (this.#calls.get(id) ?? new Set()).add(dialog));
    for (const id of before) {
      if (parties.has(id)) continue;
      const calls = this.#calls.get(id);
      if (calls?.delete(dialog) === true && calls.size === 0) this.#calls.delete(id);
    }
    if (parties.size === 0) this.#parties.delete(dialog);
    else this.#parties.set(dialog, parties);
    for (const id of new Set([...before, ...parties])) this.#changed(id);
  }

  #callsOf(id: string): readonly WatchedCall[] {
    return [...(this.#calls.get(id) ?? [])].flatMap((dialog) =>
      dialog.legs.flatMap(({ leg, side }) =>
        leg.party.kind === 'sipuser' && leg.party.sipUser.id === id ? (watchedCall(dialog, leg, side) ?? []) : [],
      ),
    );
  }
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
  return { callid, tags, initiator: side === 'a', state, held, remote: remoteOf(dialog, other) };
}

/** The other party as it is shown to phones: a withheld number is withheld here too. */
function remoteOf(dialog: CallDialog, other: Leg | undefined): WatchedCall['remote'] {
  if (other === undefined) return { uri: dialog.dialled, name: undefined };
  const shown = shownCaller('shownAs' in other ? (other as CallingLeg) : { party: other.party });
  const host = shown.number === ANONYMOUS ? 'anonymous.invalid' : other.party.domain;
  return { uri: plainUri(shown.number, host), name: shown.name };
}
