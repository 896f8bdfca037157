import { failureCause } from '../placing/attempt.ts';
import { callConference } from '../placing/call-conference.ts';
import type { ConferenceLeg } from '../legs/conference-leg.ts';
import type { DialogOpts } from '../../callstore/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { nameOf, numberOf, uriOf } from '../legs/party.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * A phone takes the place of a participant: INVITE with Replaces (RFC 3891) that names the participant's call with the
 * conference. It is let in as the participant was: past the PIN, into a full room, moderator or muted as that one.
 * The participant is released when the newcomer is in; when it does not get in, everything stays as it was.
 * @param old the participant's call, one side of which is `seat`
 * @param opts what the INVITE says of itself
 */
export async function replaceInRoom(
  tools: SwitchTools,
  leg: PhoneLeg,
  { old, seat, opts }: { readonly old: CallDialog; readonly seat: ConferenceLeg; readonly opts: DialogOpts },
): Promise<void> {
  const { room, participant } = seat;
  const { domain, number, confroomnum } = room.address;
  const dialog = tools.dialogs.open({
    a: leg,
    localuri: room.uri,
    remoteuri: uriOf(leg.party),
    site: tools.site,
    carried: old.carried,
    opts,
  });
  const decision = tools.directory.route(domain, undefined, number);
  const attempt =
    decision.kind === 'conference'
      ? callConference(
          tools,
          { ...decision, room: confroomnum },
          {
            dialog,
            caller: leg,
            domain,
            dialled: number,
            tail: [],
            callerNumber: numberOf(leg.party),
            callerName: nameOf(leg.party),
            timeoutMs: 0,
            headers: {},
            entrance: {
              brought: true,
              moderator: room.moderates(participant),
              muted: participant.admission.muted,
              instead: participant,
            },
          },
        )
      : undefined;
  const final = await attempt?.final;
  if (final === undefined || final.status >= 300) {
    // The featurecode may have gone since the room began.
    dialog.end(final === undefined ? { by: 'failure', status: 481, reason: 'Room Gone' } : failureCause(final));
    return;
  }
  tools.dialogs.transferred(old, dialog);
  old.end({ by: 'transfer', status: 480, reason: 'Replaced' });
}
