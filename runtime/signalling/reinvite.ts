import type { SrfDialog, SrfIncomingResponse } from './srf-types.ts';

/** The phone does not take the new session description. */
export class ReinviteRefused extends Error {
  override readonly name = 'ReinviteRefused';
  readonly status: number;
  constructor(status: number) {
    super(`the re-INVITE was answered with ${status}`);
    this.status = status;
  }
}

/** How often a re-INVITE that crosses another is sent, and the longest pause between, ms. */
const GLARE_ATTEMPTS = 4;
const GLARE_MS = 2000;

/**
 * Sends a re-INVITE with a new offer and gives the answer (RFC 3261 section 14.1).
 * @throws ReinviteRefused
 */
export async function reinvite(dialog: SrfDialog, sdp: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const { status, body } = await send(dialog, sdp);
    if (status < 300) {
      dialog.local.sdp = sdp;
      return body;
    }
    // It crossed one of the phone.
    if (status !== 491 || attempt === GLARE_ATTEMPTS) throw new ReinviteRefused(status);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * GLARE_MS));
  }
}

/**
 * Not by a method of the dialog: after a refusal `modify` never settles again, and `request` acknowledges it a second time.
 */
function send(dialog: SrfDialog, sdp: string): Promise<SrfIncomingResponse> {
  const { contact } = dialog.local;
  const headers: Record<string, string> = contact === undefined ? {} : { Contact: contact };
  return new Promise((resolve, reject) => {
    const options = { method: 'INVITE', stackDialogId: dialog.id, headers, body: sdp };
    // The SIP server knows the dialog's own URI.
    dialog.srf.request('sip:placeholder', options, (err, req) => {
      if (req === undefined) reject(err);
      req?.on('response', (res: SrfIncomingResponse, acknowledge: () => void) => {
        if (res.status < 200) return;
        if (res.status < 300) acknowledge();
        resolve(res);
      });
    });
  });
}
