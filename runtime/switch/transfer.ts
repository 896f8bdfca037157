import type { Answer, ReferOptions, Transfer } from '../interpreter/call-port.ts';
import { splitDtmfTail } from '../interpreter/dtmf-tail.ts';
import { bracketUri } from '../signalling/sip-uri.ts';
import { failureCause } from './call-phones.ts';
import type { CallDialog } from './dialog.ts';
import { withLabel } from './labels.ts';
import type { CallingLeg } from './leg.ts';
import { nameOf, numberOf, uriOf } from './party.ts';
import { placeCall } from './place-call.ts';
import type { SwitchTools } from './tools.ts';

/** What the transferred party hears until the target answers: the ringback tone, teletone notation. */
const RINGBACK = 'tone_stream://%(1000,4000,425);loops=-1';
/** Milliseconds a transfer target may ring when nothing else is said. */
const DEFAULT_RING_MS = 30_000;

/** Runs when the target has answered, before the rest of the old dialog is released or has its party back. */
export type BeforeSettling = (result: Answer) => Promise<void>;

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
  beforeSettling?: BeforeSettling,
): Transfer {
  const { number, tail } = splitDtmfTail(options.to);
  const { domain } = opponent.party;
  old.suspend(opponent);
  const dialog = tools.dialogs.open({
    a: opponent,
    localuri: bracketUri(number, domain),
    remoteuri: uriOf(opponent.party),
    site: tools.site,
    bindings: withLabel(old.bindings, options.binding),
  });
  const stopRinging = options.ringback === false ? undefined : ringBack(tools, opponent);
  const attempt = placeCall(tools, tools.directory.route(domain, numberOf(opponent.party), number), {
    dialog,
    caller: opponent,
    domain,
    dialled: number,
    tail,
    fromNumber: numberOf(opponent.party),
    fromName: nameOf(opponent.party),
    timeoutMs: options.timeoutMs ?? DEFAULT_RING_MS,
    headers: {},
    ...(stopRinging === undefined ? {} : { beforeMedia: stopRinging }),
  });
  const final = attempt.final.then(async (result) => {
    await stopRinging?.();
    await beforeSettling?.(result);
    await settleTransfer(old, dialog, opponent, result);
    return result;
  });
  return { acallid: opponent.callid, dialogid: dialog.dialogid, provisional: attempt.provisional, final };
}

/** After a transfer: the old dialog is over, or has its party back, with the sound as it was. */
export async function settleTransfer(
  old: CallDialog,
  dialog: CallDialog,
  opponent: CallingLeg,
  result: Answer,
): Promise<void> {
  if (result.status < 300) {
    old.end({ by: 'transfer', status: 480, reason: 'Transferred' }, opponent);
    return;
  }
  const gone = opponent.ended;
  dialog.endWithout(opponent, failureCause(result));
  if (gone) {
    old.end({ by: old.a === opponent ? 'a' : 'b', status: 487, reason: 'Opponent Gone' }, opponent);
    return;
  }
  old.resume(opponent);
  await old.connectMedia();
}

/** Plays the ringback tone; the function it gives ends it, and settles when the endpoint is free. */
function ringBack(tools: SwitchTools, opponent: CallingLeg): () => Promise<void> {
  const stop = new AbortController();
  const over = opponent.endpoint?.play(RINGBACK, stop.signal).catch((err: unknown) => {
    if (!stop.signal.aborted && opponent.endpoint?.gone.aborted === false) tools.failed(err, 'ringback', opponent);
  });
  return async () => {
    stop.abort();
    await over;
  };
}
