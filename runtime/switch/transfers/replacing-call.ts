import { parseReplaces } from '../../signalling/index.ts';
import { MediaError } from '../../media/index.ts';
import { reasonPhrase } from '../../sip-facts/index.ts';
import { ConferenceLeg } from '../legs/conference-leg.ts';
import type { DialogOpts } from '../../callstore/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import type { CallingLeg } from '../legs/leg.ts';
import { type Party, uriOf } from '../legs/party.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import type { InviteLine } from '../lines/line.ts';
import { referredInvite } from '../placing/referred-by.ts';
import { replaceInRoom } from './replace-in-room.ts';
import { moveLeg } from './take-over.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * Lets a phone replace another in a live call, by an INVITE with Replaces (RFC 3891). The remaining party gets no SIP
 * request, and the replaced phone is released. Participants of a conference and ringing phones can be replaced too. An
 * INVITE without the Call-ID and both tags of the replaced phone's dialog gets 481.
 */
export function replaceByCall(tools: SwitchTools, party: Party, invite: InviteLine, replaces: string): void {
  const wanted = parseReplaces(replaces);
  if (wanted === undefined) return invite.reject(400);
  const found = tools.dialogs.findReplaced(wanted);
  if (found === undefined && tools.others !== undefined) {
    tools.others.replace(party, invite, { wanted, value: replaces });
    return;
  }
  // A call of another domain counts as unknown.
  if (found === undefined || !found.dialog.isOf(party.domain)) return invite.reject(481);
  const { dialog: old, side, ringing } = found;
  if (ringing) return pickUpRinging(tools, party, invite, old);
  if (wanted.earlyOnly) return invite.reject(486);
  const replaced = old.leg(side);
  const stays = replaced === undefined ? undefined : old.opposite(replaced);
  const opts = { ...referredInvite(invite), replaces };
  let work: (leg: PhoneLeg) => Promise<void>;
  if (stays instanceof PhoneLeg || stays instanceof IvrLeg) work = (leg) => replace(tools, leg, old, stays, opts);
  else if (stays instanceof ConferenceLeg && stays.participant.state !== 'entering') {
    work = (leg) => replaceInRoom(tools, leg, { old, seat: stays, opts });
  } else return invite.reject(481);
  const leg = PhoneLeg.incoming(tools, party, invite);
  work(leg).catch((err: unknown) => failed(tools, leg, err));
}

/**
 * Replaces a ringing phone: the new phone answers the call in its place. RFC 3891 section 3 allows this for the called
 * side only, because an early dialog can be replaced only by the side that initiated it.
 */
function pickUpRinging(tools: SwitchTools, party: Party, invite: InviteLine, { pickup }: CallDialog): void {
  if (pickup === undefined) return invite.reject(481);
  const leg = PhoneLeg.incoming(tools, party, invite);
  const take = async (): Promise<void> => {
    // The new phone's own failure (no common codec) is found before the call changes.
    await leg.prepareMedia();
    if (leg.ended || (await pickup(leg, () => undefined))) return;
    leg.release({ by: 'failure', status: 481, reason: 'Call/Transaction Does Not Exist' });
  };
  take().catch((err: unknown) => failed(tools, leg, err));
}

function failed(tools: SwitchTools, leg: PhoneLeg, err: unknown): void {
  if (!leg.ended) tools.failed(err, 'Replaces', leg);
  const status = err instanceof MediaError ? err.status : 500;
  leg.release({ by: 'failure', status, reason: reasonPhrase(status) });
}

async function replace(
  tools: SwitchTools,
  leg: PhoneLeg,
  old: CallDialog,
  stays: CallingLeg,
  opts: DialogOpts,
): Promise<void> {
  // The new phone's own failure (no common codec) is found before the call changes.
  await leg.prepareMedia(stays.mediaServer);
  const opened = { localuri: uriOf(stays.party), remoteuri: uriOf(leg.party), site: tools.site, opts };
  const dialog = await moveLeg(tools, { leg: stays, dialog: old }, () =>
    tools.dialogs.open({ a: leg, ...opened, carried: old.carried }),
  );
  if (typeof dialog === 'number') {
    leg.release({ by: 'failure', status: 481, reason: 'Call/Transaction Does Not Exist' });
    return;
  }
  try {
    await leg.answered();
    await dialog.connectMedia();
    stays.peerChanged?.();
  } catch (error) {
    // The remaining party has no peer left.
    dialog.end({ by: 'external', status: 500, reason: 'Server Internal Error' });
    if (!leg.ended) throw error;
  }
}
