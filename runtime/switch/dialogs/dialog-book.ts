/** The live dialogs of a node, and the events about them. */
import { isNamed } from '../../domain/index.ts';
import type { DomainName } from '../../domain-name/index.ts';
import { type Log, namesDialog, type Replaces } from '../../signalling/index.ts';
import {
  type CallFacts,
  type CallHistory,
  type CallIndex,
  type MemoryCallStore,
  tellOnce,
} from '../../callstore/index.ts';
import { type RefusedCall, refusedFacts } from './call-account.ts';
import { CallDialog, type DialogObserver, type DialogStart } from './dialog.ts';
import type { EndCause, Leg } from '../legs/leg.ts';
import type { Party } from '../legs/party.ts';
import { type CallWatcher, type LiveCall, liveCall } from './live-call.ts';
import { sharedCall } from './shared-call.ts';

export type DialogEventType =
  | 'call_init'
  | 'call_ringing'
  | 'call_answered'
  | 'call_hold'
  | 'call_unhold'
  | 'call_transfer'
  | 'call_end';

/** Receives the events of dialogs (specification, "Events" 1). */
export interface DialogEvents {
  /**
   * @param domains of the dialog's legs; each of them gets the event
   * @param users ids of the users whose accounts take part
   */
  emit(
    domains: readonly DomainName[],
    type: DialogEventType,
    data: {
      readonly inviteid: string;
      readonly connectionid: string;
      readonly dialogid: string;
      readonly [field: string]: string;
    },
    users: readonly string[],
  ): void;
}

export interface DialogBookOptions {
  readonly log: Pick<Log, 'debug'>;
  readonly watcher?: CallWatcher | undefined;
  readonly history?: CallHistory | undefined;
  /** Keeps the calls for other nodes; absent on a single node. */
  readonly index?: CallIndex | undefined;
  /** Learns of every call and its changes. */
  readonly lamps?: { changed(dialog: CallDialog): void; gone(dialog: CallDialog): void } | undefined;
}

/** A call of this node or another one. */
export interface CallRef {
  readonly dialogid: string;
  readonly inviteid: string;
  readonly account?: { replaces(id: string): void };
}

/** The log lines about events. */
const LINES: Readonly<Record<DialogEventType, string>> = {
  call_init: 'call began',
  call_ringing: 'call rings',
  call_answered: 'call answered',
  call_hold: 'call on hold',
  call_unhold: 'call resumed',
  call_transfer: 'party moved to another call',
  call_end: 'call ended',
};

/** Milliseconds that a party waits to be taken over after the other one was. */
const PARTED_MS = 5000;

/** The live dialogs of this node, kept in step with the callstore. */
export class DialogBook implements DialogObserver {
  readonly #store: MemoryCallStore;
  readonly #events: DialogEvents;
  readonly #watcher: CallWatcher | undefined;
  readonly #history: CallHistory | undefined;
  readonly #index: CallIndex | undefined;
  readonly #lamps: DialogBookOptions['lamps'];
  readonly #log: Pick<Log, 'debug'>;
  readonly #dialogs = new Map<string, CallDialog>();
  /** Dialogs with a ringing phone, in the order of their first ring. */
  readonly #ringing = new Set<CallDialog>();
  /** Dialogs that one leg has left while the other waits. */
  readonly #parted = new Map<string, CallDialog>();

  constructor(store: MemoryCallStore, events: DialogEvents, options: DialogBookOptions) {
    const { log, watcher, history, index, lamps } = options;
    this.#index = index;
    this.#lamps = lamps;
    this.#store = store;
    this.#events = events;
    this.#log = log;
    this.#watcher = watcher;
    this.#history = history;
  }

  open(start: DialogStart): CallDialog {
    const dialog = new CallDialog(this, start);
    this.#history?.going(dialog.facts());
    // It has begun at another node.
    if (start.known?.begun !== undefined) return dialog;
    this.#tell(dialog, 'call_init', {
      from: start.remoteuri,
      to: start.localuri,
      ...verified(start.a.party),
    });
    return dialog;
  }

  /** A call was refused before it had a dialog. */
  refused(call: RefusedCall): void {
    const facts = refusedFacts(call);
    const { callid, status, reason } = call;
    this.#log.debug({ call: facts.id, callid, status, reason }, 'call refused');
    this.#history?.over(facts);
  }

  established(dialog: CallDialog): void {
    this.#ringing.delete(dialog);
    this.#watcher?.answered(liveCall(dialog));
    this.#history?.going(dialog.facts());
    this.#share(dialog);
    this.#tell(dialog, 'call_answered', { callid: dialog.b?.callid ?? '' });
  }

  /** A called party rings. */
  ringing(dialog: CallDialog, callid: string): void {
    this.#ringing.add(dialog);
    dialog.account.rang(callid);
    this.#share(dialog);
    this.#lamps?.changed(dialog);
    this.#tell(dialog, 'call_ringing', { callid });
  }

  /**
   * The call that has been ringing longest at a sipuser of the domain.
   * @param number the sipuser's number or login; undefined: any
   * @param except the asking party's own call
   */
  ringingAt(domain: DomainName, number: string | undefined, except?: CallDialog): CallDialog | undefined {
    for (const dialog of this.#ringing) {
      const rings = dialog.legs.some(({ leg: { party }, side }) => {
        if (side === 'a' || party.kind !== 'sipuser' || party.domain !== domain) return false;
        return number === undefined || isNamed(party.sipUser, number);
      });
      if (rings && dialog !== except && dialog.state === 'forking') return dialog;
    }
    return undefined;
  }

  /** A party moved from one dialog to another. */
  transferred(from: CallDialog, to: CallRef): void {
    this.continued(from, to);
    this.#tell(from, 'call_transfer', { new_dialogid: to.dialogid, new_inviteid: to.inviteid });
  }

  /** One call goes on as another. */
  continued(from: CallDialog, to: CallRef): void {
    this.#log.debug({ call: from.inviteid, dialogid: from.dialogid, new_call: to.inviteid }, 'call goes on as another');
    from.account.replacedBy(to.inviteid);
    to.account?.replaces(from.inviteid);
  }

  connected(dialog: CallDialog): void {
    this.#share(dialog);
  }

  held(dialog: CallDialog, leg: Leg, held: boolean): void {
    if (this.#dialogs.has(dialog.dialogid)) this.#lamps?.changed(dialog);
    this.#tell(dialog, held ? 'call_hold' : 'call_unhold', { callid: leg.callid });
  }

  /** An end from outside marks neither side (specification, "Events" 1). */
  over(dialog: CallDialog, cause: EndCause): void {
    const { by, reason } = cause;
    this.#watcher?.over(dialog.dialogid);
    const elsewhere = this.#index?.endedElsewhere(dialog.dialogid) ?? false;
    this.#index?.over(dialog.dialogid);
    this.#history?.over(dialog.facts(cause), dialog.account.media(dialog));
    const tell = this.#event(dialog, 'call_end', { reason, ...(by === 'a' || by === 'b' ? { side: by } : {}) });
    tellOnce(elsewhere, tell);
  }

  /** The live call of this id, as it is now. */
  live(dialogid: string): LiveCall | undefined {
    const dialog = this.#dialogs.get(dialogid);
    return dialog === undefined ? undefined : liveCall(dialog);
  }

  find(dialogid: string): CallDialog | undefined {
    return this.#dialogs.get(dialogid);
  }

  /**
   * Lets one leg leave. The other waits, in no list of calls, to be taken over too, or for the return of the first.
   * @param forever false: the waiting leg is released unless it is taken over within 5 s
   */
  part(dialog: CallDialog, leg: Leg, forever: boolean): void {
    dialog.suspend(leg);
    this.#parted.set(dialog.dialogid, dialog);
    const release = () => dialog.end({ by: 'transfer', status: 480, reason: 'Transferred' });
    const timer = forever ? undefined : setTimeout(release, PARTED_MS);
    const over = () => {
      clearTimeout(timer);
      this.#parted.delete(dialog.dialogid);
    };
    dialog.ended.addEventListener('abort', over, { once: true });
  }

  /** The leg that left has returned. */
  reunite(dialog: CallDialog, leg: Leg): void {
    this.#parted.delete(dialog.dialogid);
    dialog.resume(leg);
  }

  /** A dialog that one leg has left while the other waits. */
  parted(dialogid: string): CallDialog | undefined {
    return this.#parted.get(dialogid);
  }

  /** The established dialog that has a leg with this Call-ID, and the side of that leg. */
  findByCallId(callid: string): { dialog: CallDialog; side: 'a' | 'b' } | undefined {
    for (const dialogid of this.#store.idsOfCall(callid)) {
      const dialog = this.#dialogs.get(dialogid);
      if (dialog?.state === 'dialog') return { dialog, side: dialog.a.callid === callid ? 'a' : 'b' };
    }
    return undefined;
  }

  /** The call of the phone that has this SIP dialog, and the phone's side: answered, or ringing at the phone. */
  findReplaced(replaces: Replaces): { dialog: CallDialog; side: 'a' | 'b'; ringing: boolean } | undefined {
    for (const dialogid of this.#store.idsOfCall(replaces.callId)) {
      const dialog = this.#dialogs.get(dialogid);
      const named = dialog?.legs.find(
        ({ leg }) => leg.callid === replaces.callId && leg.tags?.some((tags) => namesDialog(replaces, tags)),
      );
      if (dialog === undefined || named === undefined) continue;
      const { side } = named;
      const ringing = dialog.state === 'forking';
      // RFC 3891 section 3: an early dialog can be replaced only when this side initiated it, so never the caller's.
      if (dialog.state === 'dialog' || (ringing && side === 'b')) return { dialog, side, ringing };
    }
    return undefined;
  }

  /** The facts of the calls with this id: of the call, its dialog, a leg, or its operation. */
  factsOf(id: string): readonly CallFacts[] {
    const all = new Set([...this.#dialogs.values(), ...this.#parted.values()]);
    return [...all].filter((dialog) => dialog.isKnownAs(id)).map((dialog) => dialog.facts());
  }

  /** The call goes on at another node, which has its events and its history. */
  left(dialog: CallDialog): void {
    this.gone(dialog);
    this.#index?.over(dialog.dialogid);
    this.#history?.moved?.(dialog.inviteid);
  }

  /** Number of live dialogs with a party behind this provider, of all nodes. */
  countOfProvider(providerId: string): number {
    return this.#store.countOfProvider(providerId);
  }

  /** Number of live dialogs with a party of this domain, of all nodes. */
  countOfDomain(domain: DomainName): number {
    return this.#store.countOfDomain(domain);
  }

  all(): CallDialog[] {
    return [...this.#dialogs.values()];
  }

  changed(dialog: CallDialog): void {
    this.#dialogs.set(dialog.dialogid, dialog);
    this.#store.put(dialog.entry());
    this.#share(dialog);
    this.#lamps?.changed(dialog);
  }

  #share(dialog: CallDialog): void {
    this.#index?.changed(dialog.dialogid, () => sharedCall(dialog));
  }

  gone(dialog: CallDialog): void {
    this.#ringing.delete(dialog);
    this.#dialogs.delete(dialog.dialogid);
    this.#store.remove(dialog.dialogid);
    this.#lamps?.gone(dialog);
  }

  #tell(dialog: CallDialog, type: DialogEventType, more: Readonly<Record<string, string>>): void {
    this.#event(dialog, type, more)();
  }

  /** An event about the call as it is now, to be told soon. */
  #event(dialog: CallDialog, type: DialogEventType, more: Readonly<Record<string, string>>): () => void {
    const { view, domains, sipUsers } = dialog.entry();
    const { inviteid, dialogid } = view;
    const users = sipUsers.flatMap(({ userId }) => userId ?? []);
    this.#log.debug({ call: inviteid, dialogid, operation: dialog.carried.operation?.id, ...more }, LINES[type]);
    // One initiating INVITE makes one connection, so the two share an id.
    return () => this.#events.emit(domains, type, { inviteid, connectionid: inviteid, dialogid, ...more }, users);
  }
}

/** What the signature of a caller is worth, where that was checked. */
function verified(party: Party): Readonly<Record<string, string>> {
  const verdict = party.kind === 'provider' ? party.verdict : undefined;
  if (verdict === undefined) return {};
  const { verstat, attestation } = verdict;
  return { verstat, ...(attestation !== undefined && { attestation }) };
}
