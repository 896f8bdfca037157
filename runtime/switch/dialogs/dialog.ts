/** An active call with its legs, state and sound. */
import { randomUUID } from 'node:crypto';
import type { DomainName } from '../../domain-name/index.ts';
import type { CallFacts, DialogEntry, DialogParty, LegView } from '../../callstore/index.ts';
import type { CallingLeg, EndCause, Leg, LegOwner, PhoneMessage } from '../legs/leg.ts';
import type { StopMelodyMode } from '../../runs/index.ts';
import { StateMachine } from '../../transitions/index.ts';
import type { ReinviteAnswer, SipAnswer } from '../../signalling/index.ts';
import { CallAccount } from './call-account.ts';
import type { CarriedState } from './carried-state.ts';
import { DIALOG_TRANSITIONS, type DialogState } from './dialog-state.ts';
import { FaxPassing, type FaxParty } from './fax-passing.ts';
import { HoldMelody } from '../sound/hold-melody.ts';
import { MediaPath, type SoundPath } from '../sound/media-path.ts';
import { gather } from '../legs/media-gathering.ts';
import { type EsgCall, type Party, urisOf } from '../legs/party.ts';

/** A leg with its fields of the specification's leg table. */
interface DialogLeg {
  readonly leg: Leg;
  readonly side: 'a' | 'b';
  readonly localuri: string;
  readonly remoteuri: string;
  readonly expirets: number | 'undefined';
}

/**
 * Lets another leg answer a call while its phones ring.
 * @param part takes that leg out of its own call; called once the pickup can no longer fail
 * @returns false when the call was answered or given up meanwhile
 */
export type Pickup = (leg: CallingLeg, part: () => void) => Promise<boolean>;

/** Keeps track of the live dialogs. */
export interface DialogObserver {
  /** The dialog began, or its legs or its state changed. */
  changed(dialog: CallDialog): void;
  /** A called party answered. */
  established(dialog: CallDialog): void;
  /** The sound of both sides is connected, or they need no connection; their SIP dialogs and channels are known. */
  connected(dialog: CallDialog): void;
  held(dialog: CallDialog, leg: Leg, held: boolean): void;
  /** The dialog ended or was suspended: it leaves all lists. */
  gone(dialog: CallDialog): void;
  /** The dialog ended. */
  over(dialog: CallDialog, cause: EndCause): void;
  /** The call goes on at another node. */
  left(dialog: CallDialog): void;
}

export interface DialogStart {
  readonly a: Leg;
  /** To and From of the initiating INVITE, `<sip:USERNAME@DOMAIN>`. */
  readonly localuri: string;
  readonly remoteuri: string;
  readonly site: string;
  /** From the dialog that it replaces, if any. */
  readonly carried: CarriedState;
  readonly opts?: DialogEntry['view']['opts'];
  /** Of a call that another node has named, or begun. */
  readonly known?: KnownCall;
}

/** What is known of a call that comes from another node. */
export interface KnownCall {
  readonly dialogid: string;
  /** Absent: the call begins here. */
  readonly begun?: { readonly inviteid: string; readonly startts: number; readonly facts: CallFacts };
}

/** Unique among live dialogs; short, as people type it into URLs. */
export function newDialogId(): string {
  return randomUUID().replace('-', '').slice(0, 12);
}

/** An active call: one A leg, B legs, and its state (specification, "Dialog (active call)"). */
export class CallDialog implements LegOwner {
  readonly dialogid: string;
  readonly inviteid: string;
  readonly startts: number;
  /** Labels (specification, "SETUP_BINDINGS"). */
  readonly bindings: Set<string>;
  /** Domains, in lower case, that have paused their recording of the call; kept by the recorder. */
  readonly pausedRecordings: Set<DomainName>;
  /** What happened in it, for the history of calls. */
  readonly account: CallAccount;
  readonly #observer: DialogObserver;
  readonly #start: DialogStart;
  readonly #ended = new AbortController();
  /** Present while phones ring: see `Pickup`. */
  pickup: Pickup | undefined;
  #b = new Map<string, DialogLeg>();
  readonly #state = new StateMachine(DIALOG_TRANSITIONS, 'forking');
  #path: SoundPath | undefined;
  #parting: Promise<void> | undefined;
  readonly #melody: HoldMelody;
  readonly #fax = new FaxPassing(async () => {
    await this.#path?.connect();
    // Other nodes know the channels.
    this.#observer.changed(this);
  });

  constructor(observer: DialogObserver, start: DialogStart) {
    this.#observer = observer;
    this.#start = start;
    this.dialogid = start.known?.dialogid ?? newDialogId();
    const { inviteid = randomUUID(), startts = Date.now(), facts } = start.known?.begun ?? {};
    this.inviteid = inviteid;
    this.startts = startts;
    this.bindings = new Set(start.carried.labels);
    this.pausedRecordings = new Set(start.carried.pausedRecordings);
    this.#melody = new HoldMelody(start.carried.melodyOff);
    this.account = new CallAccount(start.a, facts);
    start.a.owner = this;
    observer.changed(this);
  }

  get state(): DialogState {
    return this.#state.state;
  }

  /** What is passed on to the dialog that replaces this one. */
  get carried(): CarriedState {
    const { bindings, pausedRecordings } = this;
    const { operation } = this.#start.carried;
    return { labels: bindings, pausedRecordings, melodyOff: this.#melody.isOff, operation };
  }

  /** From of the initiating INVITE, `<sip:USERNAME@DOMAIN>`. */
  get remoteuri(): string {
    return this.#start.remoteuri;
  }

  /** To of the initiating INVITE, `sip:USERNAME@DOMAIN`. */
  get dialled(): string {
    return this.#start.localuri.replace(/^<|>$/g, '');
  }

  get a(): Leg {
    return this.#start.a;
  }

  /** The answering party, once there is one. */
  get b(): Leg | undefined {
    return this.state === 'forking' ? undefined : this.#b.values().next().value?.leg;
  }

  /** Aborted with the EndCause when the dialog is over. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Adds a called party, or a called party's further contact.
   * @param expirets until when it may be called, milliseconds since the epoch; `undefined` for one without a limit
   */
  addBranch(leg: Leg, uris: { localuri: string; remoteuri: string }, expirets: DialogLeg['expirets']): void {
    if (this.state !== 'forking') return;
    leg.owner = this;
    this.account.called(leg);
    this.#b.set(leg.callid, { leg, side: 'b', ...uris, expirets });
    this.#observer.changed(this);
  }

  /**
   * Removes a called contact that refused.
   * @param refusal its final answer
   */
  removeBranch(callid: string, refusal?: SipAnswer): void {
    if (this.state !== 'forking' || !this.#b.delete(callid)) return;
    this.account.refused(callid, refusal);
    this.#observer.changed(this);
  }

  /**
   * A called party answered: its leg replaces the branch with the same Call-ID, and is the only B leg from now on.
   * @returns false when the dialog is over; the caller of this method then releases the leg
   */
  establish(leg: Leg): boolean {
    const branch = this.#b.get(leg.callid);
    if (branch === undefined || this.#state.step('answered') === undefined) return false;
    leg.owner = this;
    this.#b = new Map([[leg.callid, { ...branch, leg }]]);
    this.account.answered(leg);
    this.#observer.changed(this);
    this.#observer.established(this);
    return true;
  }

  /** Connects the sound of both sides, if both have any. */
  async connectMedia(): Promise<void> {
    if (this.state !== 'dialog' || this.b === undefined) return;
    const { b } = this;
    if (this.#path === undefined && this.a.mediaServer !== b.mediaServer) {
      await gather(this.a, b);
      if (this.#isOver(b)) return;
    }
    const path = this.#path ?? soundPath(this.a, b, () => this.#melody.begin());
    if (path === undefined) {
      this.#observer.connected(this);
      return;
    }
    this.#path = path;
    // A party that came from another dialog may hold the call already.
    const holders = [this.a, b].filter((leg) => leg.held);
    if (holders.length === 0) await path.connect();
    for (const leg of holders) if (leg.endpoint !== undefined) await path.setHeld(leg.endpoint, true);
    if (!this.#isOver(b)) this.#observer.connected(this);
  }

  /** Disconnects the sound of both sides, so that one of them can hear something else or leave. */
  async disconnectMedia(): Promise<void> {
    const path = this.#path;
    this.#path = undefined;
    // A second call, for the other leg, waits for the same disconnect.
    if (path !== undefined) {
      const parted = this.#fax.end().then(() => path.disconnect());
      this.#parting = parted.finally(() => {
        this.#parting = undefined;
      });
    }
    await this.#parting;
  }

  /**
   * Ends the dialog and releases its legs. Does nothing when it is over already.
   * @param except a leg that ended by itself
   */
  end(cause: EndCause, except?: Leg): void {
    const from = this.#state.step('over');
    if (from === undefined) return;
    if (from !== 'suspended') this.#observer.gone(this);
    this.#observer.over(this, cause);
    this.#fax.over();
    for (const leg of [this.a, ...[...this.#b.values()].map((entry) => entry.leg)]) {
      if (leg !== except && leg.owner === this) leg.release(cause);
    }
    this.#ended.abort(cause);
  }

  /** Lets one leg go to another dialog. The other waits, in no list of calls, until `resume` or `end`. */
  suspend(leg: Leg): void {
    if (leg.owner !== this || this.#state.step('left') === undefined) {
      throw new Error(`the dialog is ${this.state}: its leg cannot leave`);
    }
    leg.owner = undefined;
    this.#observer.gone(this);
  }

  /** The leg that left has returned. */
  resume(leg: Leg): void {
    if (this.#state.step('returned') === undefined) return;
    leg.owner = this;
    this.#observer.changed(this);
  }

  /** Ends the dialog without releasing one leg, which goes on in another dialog. */
  endWithout(leg: Leg, cause: EndCause): void {
    if (this.state === 'ended') return;
    if (leg.owner === this) leg.owner = undefined;
    this.end(cause);
  }

  /** Whether the call is in the lists of this node: not while another one tries to take it over. */
  set listed(listed: boolean) {
    if (this.ended.aborted) return;
    if (listed) this.#observer.changed(this);
    else this.#observer.gone(this);
  }

  /**
   * The call goes on at another node with the same ids: here it ends without an event.
   * @param refusal of the called parties here, which are released
   */
  leave(refusal?: EndCause): void {
    if (this.#state.step('over') === undefined) return;
    this.#observer.left(this);
    if (refusal !== undefined) for (const { leg } of this.#b.values()) if (leg.owner === this) leg.release(refusal);
    this.#ended.abort({ by: 'transfer', status: 480, reason: 'Moved' } satisfies EndCause);
  }

  /** What another node needs to go on with the call, which has no answer yet. */
  get moved(): Omit<DialogStart, 'a' | 'carried'> & { readonly known: KnownCall } {
    const { dialogid, inviteid, startts } = this;
    const { localuri, remoteuri, site, opts } = this.#start;
    const known = { dialogid, begun: { inviteid, startts, facts: this.facts() } };
    return { localuri, remoteuri, site, ...(opts && { opts }), known };
  }

  /** Begins a hold that no phone asked for. @returns whether the waiting side hears the melody */
  beginHold(): boolean {
    return this.#melody.begin();
  }

  /** True while a party holds the call. */
  get held(): boolean {
    return this.a.held || this.b?.held === true;
  }

  /**
   * Stops the hold melody, or keeps it from playing (specification, "STOP_HOLD_MELODY").
   * @returns false when the mode needs a call on hold
   */
  async stopHoldMelody(mode: StopMelodyMode): Promise<boolean> {
    const stop = this.#melody.stop(mode, this.held);
    if (stop === true) await this.#path?.stopMelody?.();
    return stop !== undefined;
  }

  // A method, because the compiler takes a narrowed field for unchanged across an await.
  #isOver(b: Leg): boolean {
    return this.state !== 'dialog' || this.b !== b;
  }

  /** All legs, the A leg first. */
  get legs(): readonly { readonly leg: Leg; readonly side: 'a' | 'b' }[] {
    return [{ leg: this.a, side: 'a' }, ...this.#b.values()];
  }

  /** Whether a leg belongs to this domain, so that the domain sees the dialog. */
  isOf(domain: DomainName): boolean {
    return this.legs.some(({ leg }) => leg.party.domain === domain);
  }

  /** The leg of a side; on side b the answering party. */
  leg(side: 'a' | 'b'): Leg | undefined {
    return side === 'a' ? this.a : this.b;
  }

  /** The other leg of an established dialog. */
  opposite(leg: Leg): Leg | undefined {
    return leg === this.a ? this.b : this.a;
  }

  legEnded(leg: Leg, reason: string, lost = false): void {
    const isA = leg === this.a;
    if (!isA && this.state === 'forking') this.removeBranch(leg.callid);
    else if (lost) this.end({ by: 'failure', status: 500, reason }, leg);
    else this.end(isA ? { by: 'a', status: 487, reason } : { by: 'b', status: 480, reason }, leg);
  }

  async legHeld(leg: Leg, held: boolean): Promise<void> {
    this.opposite(leg)?.peerHeld?.(held);
    this.#observer.held(this, leg, held);
    if (leg.endpoint === undefined || this.#path === undefined) return;
    // The path fails when an endpoint is gone; the legs report that end of the call.
    await this.#path.setHeld(leg.endpoint, held).catch(() => undefined);
  }

  legOffered(
    leg: Leg,
    offer: string,
    sound: () => Promise<ReinviteAnswer>,
    cancelled?: AbortSignal,
  ): Promise<ReinviteAnswer> | undefined {
    const party = faxParty(leg);
    const connected = this.state === 'dialog' && this.#path !== undefined && !this.held;
    const other = connected ? faxParty(this.opposite(leg)) : undefined;
    return party && this.#fax.offered(party, other, offer, sound, cancelled);
  }

  legDescription(leg: Leg): string | undefined {
    return this.#fax.description(leg);
  }

  legRemoved(_leg: Leg, reason: string): void {
    this.end({ by: 'external', status: 487, reason });
  }

  legMessaged(leg: Leg, message: PhoneMessage): void {
    this.opposite(leg)?.peerMessaged?.(message);
  }

  /** Whether this is an id of the call, its dialog, its operation, or of a leg that it has, or had. */
  isKnownAs(id: string): boolean {
    const { inviteid, dialogid, carried, account } = this;
    return id === inviteid || id === dialogid || id === carried.operation?.id || account.hasLeg(id);
  }

  /** What the history of calls keeps. @param cause present at the end of the call */
  facts(cause?: EndCause): CallFacts {
    const { inviteid, dialogid, startts, bindings: labels } = this;
    const { localuri, opts, carried } = this.#start;
    const { operation } = carried;
    return this.account.facts(
      { inviteid, dialogid, startts, localuri, labels, referredBy: opts?.['referred-by'], operation },
      cause,
    );
  }

  /** The dialog as the callstore keeps it. */
  entry(): DialogEntry {
    const { a, localuri, remoteuri, site, opts } = this.#start;
    const legs: DialogLeg[] = [{ leg: a, side: 'a', localuri, remoteuri, expirets: 'undefined' }, ...this.#b.values()];
    const parties = legs.map(({ leg }) => leg.party);
    return {
      view: {
        acallid: a.callid,
        callids: legs.map(({ leg }) => leg.callid),
        dialogid: this.dialogid,
        ...esgOf(parties),
        inviteid: this.inviteid,
        status: this.state === 'dialog' ? 'dialog' : 'forking',
        legs: legs.map(legView),
        localuri,
        remoteuri,
        site,
        startts: this.startts,
        uris: [...new Set(parties.flatMap(urisOf))],
        opts: opts ?? {},
      },
      domains: [...new Set(parties.map((party) => party.domain))],
      sipUsers: sipUsers(parties),
      operation: this.#start.carried.operation?.id,
      providers: [...new Set(parties.flatMap((party) => (party.kind === 'provider' ? [party.provider.id] : [])))],
    };
  }
}

/**
 * The sound between two legs; undefined when one of them has neither an endpoint nor a path.
 * @param melody asked once per hold whether the melody plays
 */
function soundPath(a: Leg, b: Leg, melody: () => boolean): SoundPath | undefined {
  if (a.endpoint !== undefined && b.endpoint !== undefined) return new MediaPath(a.endpoint, b.endpoint, melody);
  if (a.endpoint !== undefined) return b.pathFor?.(a.endpoint);
  return b.endpoint === undefined ? undefined : a.pathFor?.(b.endpoint);
}

function faxParty(leg: Leg | undefined): FaxParty | undefined {
  return leg?.fax === undefined ? undefined : { leg, phone: leg.fax };
}

function legView({ leg, side, localuri, remoteuri, expirets }: DialogLeg): LegView {
  return { callid: leg.callid, expirets, localuri, remoteuri, side };
}

/** The ids of the external caller, on whichever side a transfer has put it (specification, "Dialog (active call)"). */
function esgOf(parties: readonly Party[]): EsgCall {
  for (const party of parties) {
    if (party.kind === 'provider' && party.esg !== undefined) return party.esg;
  }
  return { esgdlg: '', esgcallid: '' };
}

function sipUsers(parties: readonly Leg['party'][]): DialogParty[] {
  const found = new Map<string, DialogParty>();
  for (const party of parties) {
    if (party.kind !== 'sipuser') continue;
    const { id, domain, login, phonenumber, userId } = party.sipUser;
    found.set(id, { sipUserId: id, domain, login, phonenumber, userId });
  }
  return [...found.values()];
}
