/** Joins a party that another node has sent with a party of a call here. */
import type { Answer } from '../../runs/index.ts';
import { answer, bracketUri } from '../../signalling/index.ts';
import { carriedIn, type JoinErrand, type Outcome } from '../placing/errands.ts';
import { callerOptions, failureCause } from '../placing/attempt.ts';
import { callConference } from '../placing/call-conference.ts';
import { joinedState, withLabel } from '../dialogs/carried-state.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { ConferenceLeg } from '../legs/conference-leg.ts';
import { uriOf } from '../legs/party.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';
import { shownCaller } from '../legs/shown-caller.ts';
import { referredHeader, referredOpts } from '../placing/referred-by.ts';
import { join, joinedRoom } from './join.ts';
import { findLeg } from './take-over.ts';
import type { SwitchTools } from '../tools.ts';

/** The same as `startJoin`, for a party whose old call is at the node that has sent it. */
export async function joinArrived(tools: SwitchTools, opponent: PhoneLeg, errand: JoinErrand): Promise<Outcome> {
  const { side, scenarios, dialogid, replaces } = errand;
  const carried = withLabel(carriedIn(errand.carried), side.binding);
  const opened = {
    a: opponent,
    site: tools.site,
    opts: referredOpts(side.referredBy),
    known: { dialogid },
  };
  const room = joinedRoom(tools, opponent, side);
  if (room !== undefined) {
    const { domain, number } = room.leg.room.address;
    const remoteuri = bracketUri(shownCaller(opponent).number, opponent.party.domain);
    const dialog = tools.dialogs.open({ ...opened, localuri: bracketUri(number, domain), remoteuri, carried });
    const final = await enterFor(tools, dialog, opponent, { errand, ...room });
    return settled(dialog, opponent, { final, replaces });
  }
  const found = findLeg(tools, opponent.party.domain, side, scenarios);
  if (typeof found === 'number') return { final: answer(found, undefined, true), taken: false };
  const dialog = tools.dialogs.open({
    ...opened,
    localuri: uriOf(found.leg.party),
    remoteuri: uriOf(opponent.party),
    carried: joinedState(carried, found.dialog.carried),
  });
  const final = await join(tools, dialog, opponent, { found, parted: Promise.resolve() });
  if (final.status < 300) dialog.b?.peerChanged?.();
  return settled(dialog, opponent, { final, replaces });
}

/** The party enters the room in the place of the participant of the named dialog. */
async function enterFor(
  tools: SwitchTools,
  dialog: CallDialog,
  opponent: PhoneLeg,
  joined: { readonly errand: JoinErrand; readonly dialog: CallDialog; readonly leg: ConferenceLeg },
): Promise<Answer> {
  const { side } = joined.errand;
  const { domain, number, confroomnum } = joined.leg.room.address;
  const decision = tools.directory.route(domain, undefined, number);
  if (decision.kind !== 'conference') return answer(404, undefined, true);
  const final = await callConference(
    tools,
    { ...decision, room: confroomnum },
    {
      dialog,
      caller: opponent,
      domain,
      dialled: number,
      tail: [],
      ...callerOptions(shownCaller(opponent)),
      timeoutMs: 0,
      headers: referredHeader(side.referredBy),
      entrance: { brought: true, moderator: false, muted: false, instead: joined.leg.participant },
    },
  ).final;
  if (final.status < 300) joined.dialog.end({ by: 'transfer', status: 480, reason: 'Transferred' });
  return final;
}

function settled(
  dialog: CallDialog,
  opponent: PhoneLeg,
  { final, replaces }: { readonly final: Answer; readonly replaces: string },
): Outcome {
  const { dialogid, inviteid } = dialog;
  const told = answer(final.status, final.reason, true);
  if (final.status < 300) {
    dialog.account.replaces(replaces);
    return { final: told, taken: true, call: { dialogid, inviteid } };
  }
  const taken = opponent.ended;
  dialog.endWithout(opponent, failureCause(told));
  return { final: told, taken };
}
