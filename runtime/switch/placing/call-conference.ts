import type { Entered } from '../../conference/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import { MediaError } from '../../media/index.ts';
import { answer, bracketUri, type SipAnswer } from '../../signalling/index.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt, failureAnswer } from './attempt.ts';
import { ConferenceLeg } from '../legs/conference-leg.ts';
import { numberOf, urisOf, userIdOf } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/** Calls a conference: it answers at once and becomes the B leg; a full one is busy. */
export function callConference(
  tools: SwitchTools,
  { room, featureCode }: RouteDecision & { kind: 'conference' },
  options: AttemptOptions,
): Attempt {
  const { caller, dialog, callerNumber, domain, entrance } = options;
  let entered: Entered | undefined;
  try {
    entered = tools.conferences.enter({
      featureCode,
      room,
      number: numberOf(caller.party),
      guest: { ruri: dialog.remoteuri, uris: () => urisOf(caller.party), userId: userIdOf(caller.party) },
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
  const uris = { localuri: bracketUri(callerNumber, domain), remoteuri: entered.room.uri };
  dialog.addBranch(leg, uris, 'undefined');
  leg.connectedBy(dialog.dialogid, entrance?.through);
  const { room: to, participant } = entered;
  options.onEntered?.({
    confid: to.confid,
    number: to.address.number,
    participantid: participant.participantid,
  });
  const progress = new AttemptProgress();
  void enterRoom(tools, leg, options, progress);
  return progress;
}

/**
 * Brings the caller into the room. Never rejects. After a failure, the owner of the attempt decides about the caller: a
 * transferred party goes back.
 */
async function enterRoom(
  tools: SwitchTools,
  leg: ConferenceLeg,
  options: AttemptOptions,
  progress: AttemptProgress,
): Promise<void> {
  const { caller, dialog } = options;
  const failed = (err: unknown): SipAnswer => {
    const failure = failureAnswer(err);
    // A caller without media, or without a common codec, is no fault of this node.
    if (!dialog.ended.aborted && failure.status >= 500) tools.failed(err, 'conference', caller);
    return failure;
  };
  const final = await answerCall(leg, options).catch(failed);
  progress.finish(final);
  if (final.status >= 300) return;
  // The PIN may take a while, and the room's end may come first.
  await dialog.connectMedia().catch((err: unknown) => {
    if (!dialog.ended.aborted) dialog.end({ by: 'failure', status: failed(err).status, reason: 'Media Failure' });
  });
}

async function answerCall(leg: ConferenceLeg, options: AttemptOptions): Promise<SipAnswer> {
  const { caller, dialog, beforeMedia } = options;
  // Ends a ringback tone: the caller's endpoint must be free, as it may have to move to the room's media server.
  await beforeMedia?.();
  // The caller's own failure (no common codec) is found before the conference answers.
  if ((await caller.prepareMedia(leg.mediaServer)) === undefined) throw new MediaError('the caller has no media', 488);
  if (!dialog.establish(leg)) {
    leg.release({ by: 'a', status: 487, reason: 'Request Terminated' });
    return answer(487, undefined, true);
  }
  await caller.answered(leg.room.address.number);
  return answer(200, 'OK', false);
}
