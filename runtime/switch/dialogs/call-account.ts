/** Collects the facts of a call for its history. */
import { randomUUID } from 'node:crypto';
import type { CallEnding, CallFacts, LegFacts, MediaFacts, PartyFacts } from '../../callstore/index.ts';
import { parseSipUri, type SipAnswer } from '../../signalling/index.ts';
import type { Verdict } from '../../stir/index.ts';
import type { EndCause, Leg, LegOwner } from '../legs/leg.ts';
import { nameOf, numberOf, type Party } from '../legs/party.ts';

/** A leg with what happened to it. */
type Account = { -readonly [Field in keyof Omit<LegFacts, 'party'>]: LegFacts[Field] } & {
  leg: Leg;
  /** A phone that was called, or called, for this call: not one that moved here from another. */
  readonly isNew: boolean;
};

/** What the facts have from the call itself. */
export interface AccountedCall {
  readonly inviteid: string;
  readonly dialogid: string;
  readonly startts: number;
  /** To of the initiating INVITE. */
  readonly localuri: string;
  readonly labels: Iterable<string>;
  readonly referredBy: string | undefined;
  readonly operation: CallFacts['operation'];
}

/** What happened in a call so far. */
export class CallAccount {
  /** The caller first, then every contact that was ever called. */
  readonly #legs: Account[] = [];
  readonly #replaced = new Set<string>();
  readonly #replacedBy = new Set<string>();
  #ringing: number | undefined;
  #answered: number | undefined;

  /** What happened at the node that had the call before. */
  readonly #past: readonly LegFacts[];
  /** Receives what the call continues; the node that has it by now keeps that. */
  onReplaces: ((id: string) => void) | undefined;

  /** @param known of a call that comes from another node */
  constructor(caller: Leg, known?: CallFacts) {
    const [first, ...past] = known?.legs ?? [];
    this.#past = past;
    this.#add('a', caller, first?.began);
    this.#ringing = known?.ringing;
    for (const id of known?.replaced ?? []) this.#replaced.add(id);
  }

  called(leg: Leg): void {
    this.#add('b', leg);
  }

  rang(callid: string): void {
    const at = Date.now();
    this.#ringing ??= at;
    const called = this.#of(callid);
    if (called !== undefined) called.ringing ??= at;
  }

  /** @param refusal the contact's final answer; undefined when it left without one */
  refused(callid: string, refusal: SipAnswer | undefined): void {
    const called = this.#of(callid);
    if (called === undefined || refusal === undefined) return;
    const known = !refusal.local || refusal.unreached === true;
    close(called, known ? refusal.status : null, refusal.reason);
    if (refusal.unreached === true) called.unreached = true;
  }

  /** A called party answered: every other contact is given up. */
  answered(leg: Leg): void {
    const at = Date.now();
    this.#answered = at;
    for (const each of this.#legs) {
      if (each.callid === leg.callid) each.leg = leg;
      if (each.side === 'a' || each.callid === leg.callid) {
        each.answered = at;
        if (each.isNew) each.status = 200;
        if (each.isNew) each.reason = 'OK';
      } else if (each.ended === undefined) close(each, null, 'Call completed elsewhere');
    }
  }

  /** @param id of the call that continues this one */
  replacedBy(id: string): void {
    this.#replacedBy.add(id);
  }

  /** @param id of the call that this one continues */
  replaces(id: string): void {
    this.#replaced.add(id);
    this.onReplaces?.(id);
  }

  /** Since when a phone rings, milliseconds since the epoch. */
  get ringing(): number | undefined {
    return this.#ringing;
  }

  /** @param callid of the leg, or between its provider and this platform */
  hasLeg(callid: string): boolean {
    return this.#legs.some(({ leg }) => leg.callid === callid || trunkCallidOf(leg) === callid);
  }

  /** @param cause present at the end of the call */
  facts(call: AccountedCall, cause?: EndCause): CallFacts {
    const { inviteid, dialogid, startts, localuri, labels, referredBy, operation } = call;
    const dialled = parseSipUri(localuri);
    const end: CallEnding | undefined =
      cause === undefined ? undefined : { at: Date.now(), by: cause.by, status: cause.status, reason: cause.reason };
    return {
      id: inviteid,
      dialogid,
      dialled: dialled?.user ?? '',
      dialledDomain: dialled?.host ?? '',
      began: startts,
      ...(this.#ringing !== undefined && { ringing: this.#ringing }),
      ...(this.#answered !== undefined && { answered: this.#answered }),
      legs: this.#withPast(this.#legs.map((each) => legFacts(each, end))),
      labels: [...labels],
      ...(referredBy !== undefined && { referredBy }),
      ...(operation !== undefined && { operation }),
      replaced: [...this.#replaced],
      replacedBy: [...this.#replacedBy],
      ...(end && { end }),
    };
  }

  /** The figures of the legs that end with their owner; undefined when none of them has media. Never rejects. */
  media(owner: LegOwner): Promise<readonly (MediaFacts | null)[]> | undefined {
    const own = this.#legs.map(({ leg }) => (leg.owner === owner ? leg.endpoint?.figures : undefined));
    const figures = this.#past.length === 0 ? own : [own[0], ...this.#past.map(() => undefined), ...own.slice(1)];
    if (figures.every((each) => each === undefined)) return undefined;
    return Promise.all(figures.map(async (each) => (await each) ?? null));
  }

  #withPast(legs: readonly LegFacts[]): readonly LegFacts[] {
    return this.#past.length === 0 ? legs : [...legs.slice(0, 1), ...this.#past, ...legs.slice(1)];
  }

  #add(side: 'a' | 'b', leg: Leg, began = Date.now()): void {
    const isSip = leg.party.kind !== 'ivr' && leg.party.kind !== 'conference';
    const isNew = isSip && leg.endpoint === undefined && leg.isAnswered !== true;
    this.#legs.push({ side, callid: leg.callid, leg, isNew, began, status: null, reason: null });
  }

  #of(callid: string): Account | undefined {
    return this.#legs.find((each) => each.callid === callid);
  }
}

function close(account: Account, status: number | null, reason: string): void {
  account.ended = Date.now();
  account.status = status;
  account.reason = reason;
}

function legFacts({ leg, isNew, ...known }: Account, end: CallEnding | undefined): LegFacts {
  const party = { ...partyFacts(leg.party), ...leg.about };
  const trunkCallid = trunkCallidOf(leg);
  const account = trunkCallid === undefined ? known : { ...known, trunkCallid };
  const shown = account.side === 'a' && 'shownAs' in leg ? (leg.shownAs as Shown | undefined) : undefined;
  const named = shown === undefined ? party : { ...party, number: shown.number, name: shown.name ?? null };
  if (end === undefined || account.ended !== undefined) return { ...account, party: named };
  if (account.answered !== undefined) return { ...account, ended: end.at, party: named };
  // The caller was answered with the end of the call; a ringing contact was cancelled.
  const status = account.side === 'a' && isNew ? end.status : null;
  return { ...account, ended: end.at, status, reason: end.reason, party: named };
}

function trunkCallidOf({ party }: Leg): string | undefined {
  return party.kind === 'provider' ? party.esg?.esgcallid : undefined;
}

interface Shown {
  readonly number: string;
  readonly name: string | undefined;
}

function partyFacts(party: Party): PartyFacts {
  const { kind, domain } = party;
  const facts = { kind, domain, number: numberOf(party), name: nameOf(party) ?? null };
  if (party.kind === 'sipuser') {
    const { id, login, userId } = party.sipUser;
    return { ...facts, login, sipUserId: id, ...(userId !== undefined && { userId }) };
  }
  if (party.kind === 'provider') {
    const { gateway, provider } = party;
    const trunk = { id: provider.id, code: provider.code, ...(gateway !== undefined && { gateway }) };
    return { ...facts, trunk, ...verifiedFacts(party.verdict) };
  }
  return facts;
}

function verifiedFacts(verdict: Verdict | undefined): Pick<PartyFacts, 'verified'> {
  if (verdict === undefined) return {};
  const { verstat, attestation } = verdict;
  return { verified: { verstat, ...(attestation !== undefined && { attestation }) } };
}

/** A call that was refused before it had a dialog. */
export interface RefusedCall {
  readonly party: Party;
  readonly callid: string;
  readonly dialled: string;
  readonly status: number;
  readonly reason: string;
}

/** The facts of a refused call. */
export function refusedFacts({ party, callid, dialled, status, reason }: RefusedCall): CallFacts {
  const at = Date.now();
  return {
    id: randomUUID(),
    dialogid: '',
    dialled,
    dialledDomain: party.domain,
    began: at,
    legs: [{ side: 'a', callid, party: partyFacts(party), began: at, ended: at, status, reason }],
    labels: [],
    replaced: [],
    replacedBy: [],
    end: { at, by: 'failure', status, reason },
  };
}
