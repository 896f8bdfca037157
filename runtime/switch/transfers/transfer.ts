/** Transfers to a number, or to the first of several. */
import type { DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import {
  type Answer,
  type HuntTransfer,
  type ReferOptions,
  splitDtmfTail,
  type TailStep,
  type Transfer,
} from '../../runs/index.ts';
import type { PlaySource } from '../../language/index.ts';
import { playSources } from '../../media/index.ts';
import { bracketUri } from '../../signalling/index.ts';
import { type Attempt, type AttemptOptions, callerOptions, failureCause } from '../placing/attempt.ts';
import { calleeOf } from '../placing/callee-of.ts';
import type { Called } from '../placing/branches.ts';
import { callFirst } from '../placing/call-phones.ts';
import { withLabel } from '../dialogs/carried-state.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import type { CallingLeg } from '../legs/leg.ts';
import { numberOf } from '../legs/party.ts';
import { type ShownCaller, shownCaller, withheld } from '../legs/shown-caller.ts';
import { referredHeader, referredOpts } from '../placing/referred-by.ts';
import { RINGBACK } from '../sound/ringback.ts';
import { sourceUrl } from '../sound/source-url.ts';
import type { SwitchTools } from '../tools.ts';

/** Default milliseconds that a transfer target may ring. */
const DEFAULT_RING_MS = 30_000;

/** Runs after the target's final answer, before the old dialog ends or gets its party back. */
export type BeforeSettling = (result: Answer) => Promise<void>;

/** What a transfer has beside its target. */
export interface TransferExtras {
  readonly beforeSettling?: BeforeSettling;
  /** The target's route and domain, if they are decided already. */
  readonly destination?: { readonly decision: RouteDecision; readonly domain: DomainName };
  /** The domain whose number the target is: that of the transferring party; default: that of the transferred one. */
  readonly domain?: DomainName;
  readonly entrance?: AttemptOptions['entrance'];
  readonly onEntered?: AttemptOptions['onEntered'];
}

/**
 * Transfers one side of a dialog to a new target (RFC 3515 semantics, with the media anchored here: the transferred
 * phone keeps its SIP dialog and its endpoint). A new dialog, opponent -> target, is built. When the target answers,
 * the old dialog ends; when it does not, the opponent returns to the old dialog, unless it hung up.
 */
export function startTransfer(
  tools: SwitchTools,
  old: CallDialog,
  opponent: CallingLeg,
  options: ReferOptions,
  extras: TransferExtras = {},
): Transfer {
  const { beforeSettling } = extras;
  const settling = beforeSettling ? { beforeSettling } : {};
  return transfer(tools, { old, opponent, options, ...toNumber(tools, opponent, options.to, extras), ...settling });
}

/** The targets of a transfer: how they are called. */
export interface Targets {
  readonly domain: DomainName;
  /** The number in To of a new dialog; of several numbers, the first. */
  readonly number: string;
  readonly tail: readonly TailStep[];
  readonly call: (attempt: AttemptOptions) => Attempt;
}

/** One number. */
export function toNumber(
  tools: SwitchTools,
  opponent: CallingLeg,
  to: string,
  { destination, domain: numbers, entrance, onEntered }: TransferExtras,
): Targets {
  const { number, tail } = splitDtmfTail(to);
  const domain = destination?.domain ?? numbers ?? opponent.party.domain;
  // A scenario has no account, so it is routed like the platform itself.
  const callerNumber = opponent instanceof IvrLeg ? undefined : numberOf(opponent.party);
  const decision = destination?.decision ?? tools.directory.route(domain, callerNumber, number);
  const call = (attempt: AttemptOptions): Attempt =>
    tools.placeCall(decision, {
      ...attempt,
      ...(decision.kind === 'sipuser' || decision.kind === 'provider' ? { domain: opponent.party.domain } : {}),
      ...(entrance && { entrance }),
      ...(onEntered && { onEntered }),
    });
  return { domain, number, tail, call };
}

/**
 * Transfers one side of a dialog to the first of several numbers to answer. All ring at once, and the others are cancelled
 * before the first is connected; otherwise it works like `startTransfer`. Numbers without phones are left out.
 * @param options.domain of the numbers
 */
export function startHunt(
  tools: SwitchTools,
  old: CallDialog,
  opponent: CallingLeg,
  targets: readonly string[],
  { domain, ...options }: Omit<ReferOptions, 'to'> & { readonly domain: DomainName },
): HuntTransfer {
  const { member, ...reached } = toFirst(tools, opponent, targets, domain);
  const going = transfer(tools, { old, opponent, options, ...reached });
  return { ...going, answeredBy: going.final.then(member) };
}

/** Several numbers, of which the first to answer has the call. @returns member: the number that answered */
export function toFirst(
  tools: SwitchTools,
  opponent: CallingLeg,
  targets: readonly string[],
  domain: DomainName,
): Targets & { readonly member: () => string | undefined } {
  const callerNumber = numberOf(opponent.party);
  const shown = callerOptions(shownCaller(opponent));
  const called = targets.flatMap((target): Called[] => {
    const { number, tail } = splitDtmfTail(target);
    const decision = tools.directory.route(domain, callerNumber, number);
    const callee = calleeOf(tools, decision, { dialled: number, ...shown });
    return callee === undefined ? [] : [{ callee, dialled: number, tail }];
  });
  let answeredBy: () => string | undefined = () => undefined;
  const call = (attempt: AttemptOptions): Attempt => {
    const first = callFirst(tools, called, { ...attempt, domain: opponent.party.domain });
    ({ answeredBy } = first);
    return first;
  };
  const number = splitDtmfTail(targets[0] ?? '').number;
  const member = (): string | undefined => targets.find((target) => splitDtmfTail(target).number === answeredBy());
  return { domain, number, tail: [], call, member };
}

/** The caller that a transferred party shows to its target. */
export function shownBy(opponent: CallingLeg, { withhold }: Pick<ReferOptions, 'withhold'>): ShownCaller {
  return withhold === true ? withheld(shownCaller(opponent)) : shownCaller(opponent);
}

/** Milliseconds that the target of a transfer may ring. */
export function ringsFor({ timeoutMs }: Pick<ReferOptions, 'timeoutMs'>): number {
  return timeoutMs ?? DEFAULT_RING_MS;
}

interface TransferPlan extends Targets {
  readonly old: CallDialog;
  readonly opponent: CallingLeg;
  readonly options: Omit<ReferOptions, 'to'>;
  readonly beforeSettling?: BeforeSettling;
}

function transfer(tools: SwitchTools, plan: TransferPlan): Transfer {
  const { old, opponent, domain, number, tail, options, call, beforeSettling } = plan;
  const parted = partSound(tools, old, opponent);
  old.suspend(opponent);
  const shown = shownBy(opponent, options);
  const dialog = tools.dialogs.open({
    a: opponent,
    localuri: bracketUri(number, domain),
    remoteuri: bracketUri(shown.number, opponent.party.domain),
    site: tools.site,
    carried: withLabel(old.carried, options.binding),
    opts: referredOpts(options.referredBy),
  });
  const { sounds } = options;
  const stopRinging = options.ringback === false ? () => parted : ringBack(tools, opponent, { free: parted, sounds });
  const attempt = call({
    dialog,
    caller: opponent,
    domain,
    dialled: number,
    tail,
    ...callerOptions(shown),
    timeoutMs: ringsFor(options),
    headers: referredHeader(options.referredBy),
    beforeMedia: stopRinging,
    ...(sounds === undefined ? {} : { ownSound: true }),
    ...(options.preAnswer === undefined ? {} : { preAnswer: options.preAnswer }),
  });
  const final = attempt.final.then(async (result) => {
    await stopRinging();
    await beforeSettling?.(result);
    if (result.status < 300) {
      tools.dialogs.transferred(old, dialog);
      opponent.peerChanged?.();
    }
    await settleTransfer(old, dialog, opponent, result);
    return result;
  });
  return { acallid: opponent.callid, dialogid: dialog.dialogid, provisional: attempt.provisional, final };
}

/**
 * Ends the old dialog after a transfer. After a failed one, gives it its party and its sound back.
 * @param dialog the new one; undefined: it is at another node
 */
export async function settleTransfer(
  old: CallDialog,
  dialog: CallDialog | undefined,
  opponent: CallingLeg,
  result: Answer,
): Promise<void> {
  if (result.status < 300) {
    old.end({ by: 'transfer', status: 480, reason: 'Transferred' }, opponent);
    return;
  }
  const gone = opponent.ended;
  dialog?.endWithout(opponent, failureCause(result));
  if (gone) {
    old.end({ by: old.a === opponent ? 'a' : 'b', status: 487, reason: 'Opponent Gone' }, opponent);
    return;
  }
  if (old.ended.aborted) {
    // The transferring party has hung up meanwhile, so the opponent has no peer to return to.
    opponent.release({ by: old.a === opponent ? 'b' : 'a', status: 480, reason: 'Transfer Failed' });
    return;
  }
  old.resume(opponent);
  await old.connectMedia().catch((error: unknown) => {
    if (!old.ended.aborted) throw error;
  });
}

/** Disconnects the sound of the dialog that a party leaves; settles when its endpoint is free. Never rejects. */
export async function partSound(tools: SwitchTools, old: CallDialog, opponent: CallingLeg): Promise<void> {
  try {
    await old.disconnectMedia();
  } catch (err) {
    if (opponent.endpoint?.gone.aborted === false) tools.failed(err, 'transfer', opponent);
  }
}

/**
 * Plays the ringback tone, or the given sounds over and over.
 * @param what.free settles when the endpoint is free for it
 * @returns a function that ends the sound, and settles when the endpoint is free again
 */
function ringBack(
  tools: SwitchTools,
  opponent: CallingLeg,
  { free, sounds }: { readonly free: Promise<void>; readonly sounds: readonly PlaySource[] | undefined },
): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const play = async () => {
    await free;
    const { endpoint } = opponent;
    if (signal.aborted || endpoint === undefined) return;
    await playSources(endpoint, sounds?.map(sourceUrl) ?? [RINGBACK], { signal, stopDigits: '', repeat: Infinity });
  };
  const over = play().catch((err: unknown) => {
    if (!stop.signal.aborted && opponent.endpoint?.gone.aborted === false) tools.failed(err, 'ringback', opponent);
  });
  return async () => {
    stop.abort();
    await over;
  };
}
