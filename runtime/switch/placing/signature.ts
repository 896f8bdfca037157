/** Signs calls to providers (STIR/SHAKEN). */
import type { Attestation } from '../../stir/index.ts';
import type { Callee } from '../addresses/callee.ts';
import type { Party } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * The headers that sign a call; none where it is not to be signed, or cannot be. Never rejects.
 * @param caller whose call it is: what this node knows of the caller is attested
 * @param leg of the called party, for the log
 */
export async function signatureHeaders(
  { stir, log }: Pick<SwitchTools, 'stir' | 'log'>,
  { party, signed }: Callee,
  caller: Party,
  leg: { readonly callid: string },
): Promise<Readonly<Record<string, string>>> {
  if (signed === undefined || party.kind !== 'provider') return {};
  const { code, domain } = party.provider;
  const unsigned = (details: object, why: string): Readonly<Record<string, never>> => {
    log.warn({ provider: code, domain, callid: leg.callid, ...details }, `call not signed: ${why}`);
    return {};
  };
  const { orig, dest } = signed;
  if (stir?.signs !== true) return unsigned({}, 'the node has no RINGMASTER_STIR_KEY');
  if (orig === undefined) return unsigned({}, 'the caller has no telephone number; see numbering of the provider');
  if (dest === undefined)
    return unsigned({}, 'the called number is no telephone number; see numbering of the provider');
  try {
    const signedCall = caller.kind === 'provider' ? caller.verdict?.signed : undefined;
    // Headers of their own: the form of Identity has no commas (RFC 8224 section 4).
    if (signedCall?.orig === orig) return { Identity: (await stir.divert(signedCall, dest)).join('\r\nIdentity: ') };
    return await stir.sign({ orig, dest }, attestationOf(caller));
  } catch (err) {
    return unsigned({ err }, 'the key cannot sign');
  }
}

/** A phone shows a number of its own; a scenario shows one that its author chose; other callers came from elsewhere. */
function attestationOf({ kind }: Party): Attestation {
  if (kind === 'sipuser') return 'A';
  return kind === 'provider' ? 'C' : 'B';
}
