import {
  type ClientTransaction,
  destinationOf,
  isNumeric,
  type SipEndpoint,
  SipParseError,
  SipRequest,
  type SipResponse,
  SipTransportError,
} from '../stack/index.ts';

/**
 * Calls off an INVITE that an earlier process sent: the phone still rings, and knows nothing of what became of its caller.
 * The CANCEL must have the headers of its INVITE, Via included. A phone that was answered meanwhile is told by BYE.
 *
 * @param target next hop of the INVITE
 * @param decline ends what an answer begins
 * @returns false when the request does not say enough for it
 */
export function callOffLeftBehind(
  endpoint: SipEndpoint,
  cancel: SipRequest,
  target: string,
  decline: (invite: ClientTransaction, answer: SipResponse) => void,
): boolean {
  try {
    const destination = destinationOf(target);
    if (!cancel.has('via') || !isNumeric(destination)) return false;
    const invite = inviteOf(cancel);
    const transaction: ClientTransaction = endpoint.resume(invite, destination, {
      response: (response) => {
        if (response.status >= 200 && response.status < 300) decline(transaction, response);
      },
      // Nobody is there any more: nothing rings.
      failed: () => undefined,
    });
    return transaction.cancel() !== undefined;
  } catch (error) {
    if (!(error instanceof SipParseError) && !(error instanceof SipTransportError)) throw error;
    return false;
  }
}

function inviteOf(cancel: SipRequest): SipRequest {
  const invite = new SipRequest('INVITE', cancel.uri);
  for (const name of ['Via', 'From', 'To', 'Call-ID']) invite.add(name, cancel.header(name.toLowerCase()) ?? '');
  return invite.add('CSeq', `${cancel.cseq.number} INVITE`);
}
