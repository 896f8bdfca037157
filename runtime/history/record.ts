/** Makes the records of a call: one for each domain that took part, with what that domain may see. */
import type { CallFacts, CallResult, LegFacts, MediaFacts, PartyFacts } from '../callstore/index.ts';

const ENDED_BY = { a: 'caller', b: 'called' } as const;

export type CallRecord = Readonly<Record<string, unknown>> & { readonly id: string; readonly ts: number };

/** The domains that see a call: of its parties, and of the contacts that were called in vain. */
export function domainsOf({ legs }: CallFacts): ReadonlySet<string> {
  return new Set(legs.map(({ party }) => party.domain));
}

/**
 * The record of a call as one of its domains sees it. Of parties of other domains it shows what the call itself shows:
 * number, name and domain, and of their unanswered contacts only the dialled number.
 * @param recordings ids of the domain's recordings of the call
 */
export function recordOf(facts: CallFacts, domain: string, recordings: readonly string[]): CallRecord {
  const { id, dialogid, dialled, began, ringing, answered, legs, end, labels, referredBy, operation } = facts;
  const caller = legs.find(({ side }) => side === 'a')?.party;
  const called = calledParty(facts);
  const endedAt = end?.by === 'lost' ? undefined : end?.at;
  const own = legs.map(({ party }) => party).filter((party) => party.domain === domain);
  const conference = own.find((party) => party.conference !== undefined)?.conference;
  const verified = caller?.domain === domain ? caller.verified : undefined;
  const trunk = own.find((party) => party.trunk !== undefined)?.trunk;
  return {
    id,
    ts: began,
    dialogid,
    direction: directionOf(caller, called, domain),
    ...partyFields('caller', caller, domain),
    ...partyFields('called', called, domain),
    dialled: plain(dialled),
    trunk: trunk?.code ?? null,
    trunk_id: trunk?.id ?? null,
    gateway: gatewayOf(legs, domain),
    verstat: verified?.verstat ?? null,
    attestation: verified?.attestation ?? null,
    started: iso(began),
    ringing: iso(ringing),
    answered: iso(answered),
    ended: iso(endedAt),
    ringing_ms: ringing === undefined ? null : lasted(ringing, answered ?? endedAt),
    talking_ms: answered === undefined ? null : lasted(answered, endedAt),
    result: resultOf(facts),
    sip_status: answered === undefined ? (end?.status ?? null) : 200,
    reason: plain(end?.reason),
    ended_by: end === undefined ? null : end.by === 'a' || end.by === 'b' ? ENDED_BY[end.by] : end.by,
    confid: conference?.confid ?? null,
    room: conference?.room ?? null,
    recordings,
    runs: own.flatMap(({ run }) => run ?? []),
    operation: operation?.domain === domain ? operation.id : null,
    replaced: facts.replaced,
    replaced_by: facts.replacedBy,
    referred_by: plain(referredBy),
    labels,
    users: [...new Set(own.flatMap(({ userId }) => userId ?? []))],
    legs: legs.map((leg, at) => legView(leg, facts.media?.[at] ?? null, domain, dialled)),
  };
}

/** The party that answered; without one the only one that was called; else the dialled number. */
function calledParty({ legs, dialled, dialledDomain }: CallFacts): PartyFacts {
  const called = legs.filter(({ side }) => side === 'b');
  const answering = called.find(({ answered }) => answered !== undefined);
  const accounts = new Set(called.map(({ party }) => `${party.domain} ${party.sipUserId ?? party.number}`));
  const only = accounts.size === 1 ? called[0] : undefined;
  const party = (answering ?? only)?.party;
  return party ?? { kind: 'unknown', domain: dialledDomain, number: dialled, name: null };
}

/** The gateway that took the call; without one, the last that was tried. */
function gatewayOf(legs: readonly LegFacts[], domain: string): string | null {
  const called = legs.filter(({ party }) => party.domain === domain && party.trunk?.gateway !== undefined);
  const leg = called.find(({ answered }) => answered !== undefined) ?? called.at(-1);
  return leg?.party.trunk?.gateway ?? null;
}

function directionOf(
  caller: PartyFacts | undefined,
  called: PartyFacts,
  domain: string,
): 'internal' | 'inbound' | 'outbound' | 'transit' {
  const isOutside = (party: PartyFacts | undefined): boolean =>
    party !== undefined && (party.trunk !== undefined || (party.domain !== domain && party.kind !== 'unknown'));
  const from = isOutside(caller);
  const to = isOutside(called);
  if (from) return to ? 'transit' : 'inbound';
  return to ? 'outbound' : 'internal';
}

function partyFields(role: 'caller' | 'called', party: PartyFacts | undefined, domain: string): object {
  const own = party?.domain === domain ? party : undefined;
  return {
    [`${role}_number`]: plain(party?.number),
    [`${role}_name`]: plain(party?.name),
    [`${role}_domain`]: party?.domain ?? null,
    [`${role}_login`]: own?.login ?? null,
    [`${role}_user_id`]: own?.userId ?? null,
  };
}

function legView(leg: LegFacts, media: MediaFacts | null, domain: string, dialled: string): object {
  const { side, callid, party, began, ringing, answered, ended, status, reason } = leg;
  const own = party.domain === domain;
  const isShown = own || side === 'a' || answered !== undefined;
  return {
    side,
    callid,
    kind: party.kind,
    number: plain(isShown ? party.number : dialled),
    name: isShown ? plain(party.name) : null,
    domain: party.domain,
    login: own ? (party.login ?? null) : null,
    trunk: own ? (party.trunk?.code ?? null) : null,
    gateway: own ? (party.trunk?.gateway ?? null) : null,
    started: iso(began),
    ringing: iso(ringing),
    answered: iso(answered),
    ended: iso(ended),
    sip_status: status,
    reason: plain(reason),
    media: own && media !== null ? mediaView(media) : null,
  };
}

function mediaView(media: MediaFacts): object {
  return {
    codec: plain(media.codec),
    packets_in: media.packetsIn,
    packets_out: media.packetsOut,
    lost_in: media.lostIn,
    lost_out: media.lostOut,
    jitter_ms_in: media.jitterMsIn,
    jitter_ms_out: media.jitterMsOut,
    mos_in: media.mosIn,
  };
}

const BUSY = new Set([486, 600]);
const UNKNOWN = new Set([404, 410, 484, 604]);

/** The result of a call; of one without an answer by the final status that its caller got. */
function resultOf({ answered, end, legs }: CallFacts): CallResult {
  if (end?.by === 'lost') return 'node_died';
  if (answered !== undefined) return 'answered';
  if (end === undefined) return 'failed';
  if (end.by === 'a' || end.by === 'external') return 'cancelled';
  if (end.by === 'transfer') return 'replaced';
  const status = end.status ?? 500;
  const called = legs.filter(({ side }) => side === 'b');
  if (status < 400) return 'redirected';
  if (BUSY.has(status)) return 'busy';
  if (status === 408) return 'no_answer';
  if (UNKNOWN.has(status)) return 'unknown_number';
  if (status === 487) return 'cancelled';
  if (status === 480)
    return called.every((leg) => leg.status === null || leg.unreached === true) ? 'unreachable' : 'no_answer';
  return status < 500 || status >= 600 ? 'rejected' : 'failed';
}

/** Longest text from outside. */
const MAX_TEXT = 256;

/** A text from outside, as the database takes it; null for none. */
function plain(text: string | null | undefined): string | null {
  return text == null ? null : text.slice(0, MAX_TEXT).replaceAll('\0', '').toWellFormed();
}

function iso(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

/** Milliseconds; null while it lasts. The clock may have been set back. */
function lasted(from: number, to: number | undefined): number | null {
  return to === undefined ? null : Math.max(0, to - from);
}
