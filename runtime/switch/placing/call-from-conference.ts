/** Calls from a conference. */
import type { Participant, Room } from '../../conference/index.ts';
import { splitDtmfTail } from '../../runs/index.ts';
import { bracketUri } from '../../signalling/index.ts';
import { type Attempt, failureCause } from './attempt.ts';
import { freshState } from '../dialogs/carried-state.ts';
import { ConferenceLeg } from '../legs/conference-leg.ts';
import { openPair } from '../sound/endpoint-pair.ts';
import { type Party, urisOf, userIdOf } from '../legs/party.ts';
import { referredHeader, referredOpts } from './referred-by.ts';
import type { SwitchTools } from '../tools.ts';

/** Milliseconds that a party called from a room may ring. */
const INVITATION_MS = 60_000;

/**
 * Calls a number from a room. The conference is the A leg.
 * @param dialled as in the room's domain; a DTMF tail may follow
 * @param referredBy Referred-By of the participant's phone that asked for the call (RFC 3892)
 * @returns the new participant, and the attempt; undefined when the room is full or over
 */
export function callFromConference(
  tools: SwitchTools,
  room: Room,
  dialled: string,
  referredBy?: string,
): { readonly participant: Participant; readonly attempt: Attempt } | undefined {
  const { domain, number: roomNumber, uri } = room.address;
  const { number, tail } = splitDtmfTail(dialled);
  const decision = tools.directory.route(domain, undefined, number);
  const called: Party =
    decision.kind === 'sipuser'
      ? { kind: 'sipuser', domain: decision.sipuser.domain, sipUser: decision.sipuser }
      : { kind: 'unknown', domain, number };
  const guest = { ruri: bracketUri(number, domain), uris: () => urisOf(called), userId: userIdOf(called) };
  const participant = tools.conferences.invite(room, number, guest, decision.kind === 'scenario');
  if (participant === undefined) return undefined;
  const voice =
    decision.kind === 'scenario'
      ? (calling: ConferenceLeg) => openPair(tools, calling, calling.mediaServer)
      : undefined;
  const leg = new ConferenceLeg(room, participant, voice);
  const dialog = tools.dialogs.open({
    a: leg,
    localuri: bracketUri(number, domain),
    remoteuri: uri,
    site: tools.site,
    carried: freshState(),
    opts: referredOpts(referredBy),
  });
  leg.connectedBy(dialog.dialogid);
  const attempt = tools.placeCall(decision, {
    dialog,
    caller: leg,
    domain,
    dialled: number,
    tail,
    callerNumber: roomNumber,
    callerName: undefined,
    timeoutMs: INVITATION_MS,
    headers: referredHeader(referredBy),
  });
  void attempt.final.then((final) => {
    if (final.status >= 300) dialog.end(failureCause(final));
  });
  return { participant, attempt };
}
