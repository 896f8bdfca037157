import type { IncomingInvite } from '../signalling/incoming-invite.ts';
import { replacedCallId } from '../signalling/refer-to.ts';
import { ConferenceLeg } from './conference-leg.ts';
import type { CallDialog } from './dialog.ts';
import { type Party, uriOf } from './party.ts';
import { PhoneLeg } from './phone-leg.ts';
import { replaceInRoom } from './replace-in-room.ts';
import { detachLeg } from './take-over.ts';
import type { SwitchTools } from './tools.ts';

/**
 * A phone takes the place of another in a live call: INVITE with Replaces (RFC 3891). The party that stays notices
 * nothing on the SIP side; the replaced phone is released. A participant of a conference can be replaced too.
 */
export function replaceByCall(tools: SwitchTools, party: Party, invite: IncomingInvite, replaces: string): void {
  const found = tools.dialogs.findByCallId(replacedCallId(replaces));
  const replaced = found?.dialog.leg(found.side);
  const stays = replaced === undefined ? undefined : found?.dialog.opposite(replaced);
  // A call of another domain is not there.
  if (found === undefined || !found.dialog.isOf(party.domain)) return invite.reject(481);
  const old = found.dialog;
  let work: (leg: PhoneLeg) => Promise<void>;
  if (stays instanceof PhoneLeg) work = (leg) => replace(tools, leg, old, stays, replaces);
  else if (stays instanceof ConferenceLeg && stays.participant.state !== 'entering') {
    work = (leg) => replaceInRoom(tools, leg, { old, seat: stays, replaces });
  } else return invite.reject(481);
  const leg = PhoneLeg.incoming(tools, party, invite);
  work(leg).catch((err: unknown) => {
    tools.failed(err, 'Replaces', leg);
    leg.release({ by: 'failure', status: 500, reason: 'Server Internal Error' });
  });
}

async function replace(
  tools: SwitchTools,
  leg: PhoneLeg,
  old: CallDialog,
  stays: PhoneLeg,
  replaces: string,
): Promise<void> {
  // The newcomer's own failure (no common codec) is found before anything is taken apart.
  await leg.prepareMedia(stays.mediaServer);
  if (!(await detachLeg(tools, { leg: stays, dialog: old }))) {
    leg.release({ by: 'failure', status: 481, reason: 'Call/Transaction Does Not Exist' });
    return;
  }
  const uris = { localuri: uriOf(stays.party), remoteuri: uriOf(leg.party) };
  const dialog = tools.dialogs.open({
    a: leg,
    ...uris,
    site: tools.site,
    bindings: old.bindings,
    opts: { replaces },
  });
  dialog.addBranch(stays, { localuri: uris.remoteuri, remoteuri: uris.localuri }, Date.now());
  dialog.establish(stays);
  try {
    await leg.answered();
    await dialog.connectMedia();
  } catch (error) {
    // Whoever stayed has nobody left to talk to.
    dialog.end({ by: 'failure', status: 500, reason: 'Server Internal Error' });
    if (!leg.ended) throw error;
  }
}
