/** Requests to the media server within a channel's SIP dialog. */
import type { FsEndpoint } from 'drachtio-fsmrf';
import { ENDPOINT_GONE, MediaError } from './media-error.ts';
import { elapsed, untilAborted } from './until-aborted.ts';

/** Number of attempts for a re-INVITE that crosses another. */
const GLARE_ATTEMPTS = 6;

/**
 * Sends a re-INVITE to the media server. FreeSWITCH sends one of its own after a bridge; when both cross, ours is
 * refused with 491 and sent again later (RFC 3261 section 14.1). The library's `modify` is not used because it never
 * settles after a refusal.
 * @param gone aborted when the channel has ended
 * @returns the media server's answer
 * @throws MediaError with the status of the refusal; the reason of `gone`
 */
export async function reinvite({ dialog }: FsEndpoint, sdp: string, gone: AbortSignal): Promise<string> {
  if (dialog === null) throw ENDPOINT_GONE;
  const { contact } = dialog.local;
  for (let attempt = 1; ; attempt++) {
    const headers: Record<string, string> = contact === undefined ? {} : { Contact: contact };
    const { status, body } = await untilAborted(dialog.request({ method: 'INVITE', headers, body: sdp }), gone);
    if (status < 300) {
      // The library's answer to a re-INVITE of the media server.
      dialog.local.sdp = sdp;
      return body;
    }
    if (status !== 491 || attempt === GLARE_ATTEMPTS) {
      throw new MediaError('the media server refused the session description', status);
    }
    await untilAborted(elapsed(20 + Math.random() * 100 * attempt), gone);
  }
}

/** Sends BYE instead of the library's `hangup` command: one message instead of three events and a frame slot. */
export async function hangUp(endpoint: FsEndpoint): Promise<void> {
  if (endpoint.dialog === null) return endpoint.destroy();
  try {
    await endpoint.dialog.destroy();
  } catch {
    // The SIP server has lost the call: hang up over the channel's own connection.
    await endpoint.api('uuid_kill', endpoint.uuid);
  }
}
