/** Verifies the signatures of calls from providers (STIR/SHAKEN). */
import type { Provider } from '../../domain/index.ts';
import { type IncomingInvite, listValues, parseSipUri } from '../../signalling/index.ts';
import type { Verdict } from '../../stir/index.ts';
import { telephoneDigits } from '../esg/numbering.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * What the signature of a call is worth. It takes as long as the fetch of the certificate, at most some seconds. Never rejects.
 * @param parties the caller's name-addr, and the called number as the provider writes it
 * @returns undefined where calls of the provider are not verified
 */
export function verificationOf(
  { stir, log }: Pick<SwitchTools, 'stir' | 'log'>,
  provider: Provider,
  { caller, called }: { readonly caller: string; readonly called: string },
  invite: IncomingInvite,
): Promise<Verdict> | undefined {
  if (!provider.identity.verify || stir?.verifies !== true) return undefined;
  const orig = telephoneDigits(provider, parseSipUri(caller)?.user ?? '');
  const dest = telephoneDigits(provider, called);
  const numbers = orig === undefined || dest === undefined ? undefined : { orig, dest };
  const values = listValues(invite.header('Identity') ?? '').filter((value) => value.trim() !== '');
  return stir.verify(values, numbers).then((verdict) => {
    const { code, domain } = provider;
    const { signed: _, ...said } = verdict;
    const details = { provider: code, domain, callid: invite.callId, ...said };
    if (verdict.verstat === 'TN-Validation-Failed') log.warn(details, 'the signature of a call is not valid');
    else log.debug(details, 'signature of a call checked');
    return verdict;
  });
}
