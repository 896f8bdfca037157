import { failureCause } from '../placing/attempt.ts';
import { callConference } from '../placing/call-conference.ts';
import type { ConferenceLeg } from '../legs/conference-leg.ts';
import type { DialogOpts } from '../../callstore/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { nameOf, numberOf, uriOf } from '../legs/party.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * Lets a phone replace a participant, by an INVITE with Replaces (RFC 3891) for the participant's dialog with the
 * conference. The phone needs no PIN, enters even a full room, and is moderator or muted like the participant. Once it is
 * in, the participant is released. If it cannot enter, nothing changes.
 * @param old the participant's dialog
 * @param seat the conference's leg in it
 * @param opts of the new dialog, from the INVITE
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
    // The featurecode may have been removed since the room began.
    dialog.end(final === undefined ? { by: 'failure', status: 481, reason: 'Room Gone' } : failureCause(final));
    return;
  }
  tools.dialogs.transferred(old, dialog);
  old.end({ by: 'transfer', status: 480, reason: 'Replaced' });
}
