/** Connects an incoming call with the dialled party. */
import type { TailStep } from '../../runs/index.ts';
import { bracketUri, type IncomingInvite } from '../../signalling/index.ts';
import { type Attempt, callerOptions, failureCause } from '../placing/attempt.ts';
import { freshState } from '../dialogs/carried-state.ts';
import { numberOf } from '../legs/party.ts';
import { shownCaller, withheld, withholdsCaller } from '../legs/shown-caller.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';
import { referredHeader, referredInvite } from '../placing/referred-by.ts';
import { tracing } from '../../tracing/index.ts';
import type { SwitchTools } from '../tools.ts';

/** Milliseconds a called party may ring before the caller gets 408. */
const RING_MS = 60_000;

/** What a caller dialled. */
export interface CallerWish {
  readonly number: string;
  readonly tail: readonly TailStep[];
  /** The caller's URI, as the dialog shows it. */
  readonly remoteuri: string;
}

/** Opens the dialog of a caller's leg and calls the dialled number. The caller gets the answers, which are returned too. */
export function connectCaller(
  tools: SwitchTools,
  leg: PhoneLeg,
  { number, tail, remoteuri }: CallerWish,
  invite: IncomingInvite,
): Attempt {
  const { party } = leg;
  const { domain } = party;
  const decision = tools.directory.route(domain, numberOf(party), number);
  if (withholdsCaller(decision)) leg.shownAs = withheld(shownCaller(leg));
  const dialog = tools.dialogs.open({
    a: leg,
    localuri: bracketUri(number, domain),
    remoteuri,
    site: tools.site,
    carried: freshState(),
    opts: referredInvite(invite),
  });
  const span = tracing()?.start('call', 'server', { 'sip.call_id': leg.callid, 'ringmaster.domain': domain });
  const place = (): Attempt =>
    tools.placeCall(decision, {
      dialog,
      caller: leg,
      domain,
      dialled: number,
      tail,
      ...callerOptions(shownCaller(leg)),
      timeoutMs: RING_MS,
      headers: referredHeader(invite.header('Referred-By')),
    });
  const attempt = span === undefined ? place() : span.run(place);
  if (span !== undefined) dialog.ended.addEventListener('abort', () => span.end(), { once: true });
  void attempt.final.then((final) => {
    span?.set({ 'sip.status': final.status });
    if (final.status >= 300) dialog.end(failureCause(final));
  });
  return attempt;
}
