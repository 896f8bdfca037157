/** Joins a party with a party of a call of another node. */
import type { Answer, DialogSide, Transfer, TransferOptions } from '../../runs/index.ts';
import { MediaError } from '../../media/index.ts';
import { answer, type SipAnswer } from '../../signalling/index.ts';
import { freshState, withLabel } from '../dialogs/carried-state.ts';
import { type CallDialog, newDialogId } from '../dialogs/dialog.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import type { CallingLeg } from '../legs/leg.ts';
import { uriOf } from '../legs/party.ts';
import type { Elsewhere } from '../placing/elsewhere.ts';
import { type Outcome, toldCarried } from '../placing/errands.ts';
import { failureAnswer } from '../placing/attempt.ts';
import { referredOpts } from '../placing/referred-by.ts';
import type { SwitchTools } from '../tools.ts';
import { type BeforeSettling, partSound, settleTransfer } from './transfer.ts';

/** The party that is sent, and the side with which it is joined. */
interface JoinPlan {
  readonly old: CallDialog;
  readonly opponent: CallingLeg;
  readonly side: DialogSide & TransferOptions;
  readonly scenarios: boolean;
}

/**
 * A phone goes to the node of the other call, where the new dialog is made with the id that is answered here at once. A
 * scenario cannot go: it gets the other party.
 */
export function joinElsewhere(
  tools: SwitchTools,
  others: Elsewhere,
  plan: JoinPlan,
  beforeSettling: BeforeSettling | undefined,
): Transfer {
  const { opponent } = plan;
  const dialogid = newDialogId();
  const work = async (): Promise<Answer> => {
    const node = await others.ownerOf(plan.side.dialogid);
    if (node === undefined) return await untouched(answer(481, undefined, true), beforeSettling);
    if (opponent instanceof IvrLeg) return await fetchFor(tools, others, { node, dialogid, ...plan }, beforeSettling);
    return await sendTo(tools, others, { node, dialogid, ...plan }, beforeSettling);
  };
  // What another node knows cannot be asked for at the moment.
  const final = work().catch(async (err: unknown) => {
    tools.failed(err, 'join', opponent);
    return await untouched(answer(503, undefined, true), beforeSettling);
  });
  return { acallid: opponent.callid, dialogid, provisional: final, final };
}

async function untouched(result: Answer, beforeSettling: BeforeSettling | undefined): Promise<Answer> {
  await beforeSettling?.(result);
  return result;
}

type Sent = JoinPlan & { readonly node: string; readonly dialogid: string };

async function sendTo(
  tools: SwitchTools,
  others: Elsewhere,
  { node, dialogid, old, opponent, side, scenarios }: Sent,
  beforeSettling: BeforeSettling | undefined,
): Promise<Answer> {
  if (hasLeft(old, opponent)) return await untouched(answer(487, undefined, true), beforeSettling);
  const parted = partSound(tools, old, opponent);
  const carried = toldCarried(old.carried);
  old.suspend(opponent);
  await parted;
  let outcome: Outcome;
  try {
    outcome = await others.join(node, opponent, { dialogid, side, scenarios, carried, replaces: old.inviteid });
  } catch (error) {
    if (!(error instanceof MediaError)) tools.failed(error, 'join', opponent);
    outcome = { final: failureAnswer(error), taken: false };
  }
  const { final: result, call } = outcome;
  await beforeSettling?.(result);
  if (result.status < 300 && call !== undefined) tools.dialogs.transferred(old, call);
  await settleTransfer(old, undefined, opponent, result);
  return result;
}

/** The scenario stays, and the party of the other node comes here. */
async function fetchFor(
  tools: SwitchTools,
  others: Elsewhere,
  { node, dialogid, old, opponent, side }: Sent,
  beforeSettling: BeforeSettling | undefined,
): Promise<Answer> {
  if (hasLeft(old, opponent)) return await untouched(answer(487, undefined, true), beforeSettling);
  await partSound(tools, old, opponent);
  old.suspend(opponent);
  let dialog: CallDialog | undefined;
  const wanted = { side, domain: opponent.party.domain, waits: false };
  const got = await others.fetch(node, wanted, async ({ leg, carried }) => {
    await leg.prepareMedia();
    if (opponent.ended) throw new MediaError('the scenario is over', 487);
    dialog = tools.dialogs.open({
      a: opponent,
      localuri: uriOf(leg.party),
      remoteuri: uriOf(opponent.party),
      site: tools.site,
      carried: withLabel(joinedLabels(old, carried.labels), side.binding),
      opts: referredOpts(side.referredBy),
      known: { dialogid },
    });
    dialog.addBranch(leg, { localuri: uriOf(opponent.party), remoteuri: uriOf(leg.party) }, 'undefined');
    dialog.establish(leg);
    return dialog;
  });
  const result: SipAnswer = typeof got === 'number' ? answer(got, undefined, true) : answer(200, 'OK', false);
  await beforeSettling?.(result);
  if (dialog !== undefined && result.status < 300) {
    tools.dialogs.transferred(old, dialog);
    opponent.peerChanged?.();
  }
  await settleTransfer(old, dialog, opponent, result);
  return result;
}

function joinedLabels(old: CallDialog, labels: ReadonlySet<string>) {
  return { ...freshState(), ...old.carried, labels: new Set([...old.carried.labels, ...labels]) };
}

/** The party may have hung up while the other nodes were asked. */
function hasLeft(old: CallDialog, opponent: CallingLeg): boolean {
  return old.state !== 'dialog' || opponent.owner !== old;
}
