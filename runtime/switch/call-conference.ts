import type { Entered } from '../conference/conferences.ts';
import type { Participant } from '../conference/participant.ts';
import type { Room } from '../conference/room.ts';
import type { RouteDecision } from '../domain/directory.ts';
import { splitDtmfTail } from '../interpreter/dtmf-tail.ts';
import { MediaError } from '../media/media-error.ts';
import { answer } from '../signalling/answers.ts';
import { bracketUri } from '../signalling/sip-uri.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt } from './attempt.ts';
import { failureCause } from './call-phones.ts';
import { ConferenceLeg } from './conference-leg.ts';
import { numberOf, type Party, urisOf } from './party.ts';
import { placeCall } from './place-call.ts';
import { openPair } from './endpoint-pair.ts';
import type { SwitchTools } from './tools.ts';

/** Milliseconds somebody who is called from a room may ring. */
const INVITATION_MS = 60_000;

/** Calls a conference: it answers at once and becomes the B leg; a full one is busy. */
export function callConference(
  tools: SwitchTools,
  { room, featureCode }: RouteDecision & { kind: 'conference' },
  options: AttemptOptions,
): Attempt {
  const { caller, dialog, fromNumber, domain, entrance } = options;
  let entered: Entered | undefined;
  try {
    entered = tools.conferences.enter({
      featureCode,
      room,
      number: numberOf(caller.party),
      guest: { ruri: dialog.remoteuri, uris: () => urisOf(caller.party) },
      brought: entrance?.brought === true,
      mediaServer: caller.mediaServer,
      ...entrance,
    });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return failedAttempt(error.status);
  }
  if (entered === undefined) return failedAttempt(486);
  const leg = new ConferenceLeg(entered.room, entered.participant);
  const uris = { localuri: bracketUri(fromNumber, domain), remoteuri: entered.room.uri };
  dialog.addBranch(leg, uris, Date.now());
  leg.connectedBy(dialog.dialogid);
  options.onEntered?.(entered);
  const progress = new AttemptProgress();
  answerCall(leg, options, progress).catch((err: unknown) => {
    const status = err instanceof MediaError ? err.status : 500;
    // A caller without sound, or without a codec in common, is no fault of this node.
    if (!dialog.ended.aborted && status >= 500) tools.failed(err, 'conference', caller);
    progress.finish(answer(status, undefined, true));
    dialog.end({ by: 'failure', status, reason: 'Media Failure' });
  });
  return progress;
}

async function answerCall(leg: ConferenceLeg, options: AttemptOptions, progress: AttemptProgress): Promise<void> {
  const { caller, dialog, beforeMedia } = options;
  const { room } = leg;
  // What plays to the caller ends first: his sound may have to move to where the room is.
  await beforeMedia?.();
  // The caller's own failure (no common codec) is found before the conference answers.
  if ((await caller.prepareMedia(leg.mediaServer)) === undefined) throw new MediaError('the caller has no sound', 488);
  if (!dialog.establish(leg)) {
    leg.release({ by: 'a', status: 487, reason: 'Request Terminated' });
    progress.finish(answer(487, undefined, true));
    return;
  }
  await caller.answered(room.address.number);
  progress.finish(answer(200, 'OK', false));
  // The PIN may take a while, and the room's end may come first.
  await dialog.connectMedia().catch((error: unknown) => {
    if (!dialog.ended.aborted) throw error;
  });
}

/**
 * Calls somebody from a room, whose A leg the conference is.
 * @param dialled as it would be dialled in the room's domain; a DTMF tail may follow
 * @returns his place, and how the call goes; undefined when the room is full or over
 */
export function callFromConference(
  tools: SwitchTools,
  room: Room,
  dialled: string,
): { readonly participant: Participant; readonly attempt: Attempt } | undefined {
  const { domain, number: roomNumber, uri } = room.address;
  const { number, tail } = splitDtmfTail(dialled);
  const decision = tools.directory.route(domain, undefined, number);
  const called: Party =
    decision.kind === 'sipuser'
      ? { kind: 'sipuser', domain: decision.sipuser.domain, sipUser: decision.sipuser }
      : { kind: 'unknown', domain, number };
  const guest = { ruri: bracketUri(number, domain), uris: () => urisOf(called) };
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
    bindings: new Set(),
  });
  leg.connectedBy(dialog.dialogid);
  const attempt = placeCall(tools, decision, {
    dialog,
    caller: leg,
    domain,
    dialled: number,
    tail,
    fromNumber: roomNumber,
    fromName: undefined,
    timeoutMs: INVITATION_MS,
    headers: {},
  });
  void attempt.final.then((final) => {
    if (final.status >= 300) dialog.end(failureCause(final));
  });
  return { participant, attempt };
}
