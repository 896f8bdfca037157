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
 * Cancels an INVITE that an earlier process sent, for a phone that still rings. The CANCEL must have the headers of its
 * INVITE, Via included. A phone that has answered in the meantime gets a BYE.
 *
 * @param target next hop of the INVITE
 * @param decline sends ACK and BYE for a 2xx
 * @returns false when the CANCEL lacks the Via or a numeric next hop, or cannot be read
 */
export function cancelOrphan(
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
      // Without a response nothing rings there any more.
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
