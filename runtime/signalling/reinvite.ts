/** Outgoing re-INVITEs. */
import type { SrfDialog, SrfIncomingResponse } from './srf-types.ts';

/** The phone refused the new session description. */
export class ReinviteRefused extends Error {
  override readonly name = 'ReinviteRefused';
  readonly status: number;
  constructor(status: number) {
    super(`the re-INVITE was answered with ${status}`);
    this.status = status;
  }
}

/** Number of attempts for a re-INVITE that crosses another. */
const GLARE_ATTEMPTS = 4;

/** The re-INVITEs that this side sends in a dialog (RFC 3261 section 14). */
export class Reinvites {
  readonly #dialog: SrfDialog;
  #pending = false;

  constructor(dialog: SrfDialog) {
    this.#dialog = dialog;
  }

  /** True without the final answer: a crossing offer of the far end is to be refused with 491 (section 14.2). */
  get pending(): boolean {
    return this.#pending;
  }

  /**
   * Sends a re-INVITE with a new offer and returns the answer (section 14.1).
   * @param unwanted sends CANCEL, to which the phone answers with 487, or has answered otherwise
   * @throws ReinviteRefused
   */
  async send(sdp: string, unwanted?: AbortSignal): Promise<string> {
    const dialog = this.#dialog;
    for (let attempt = 1; ; attempt++) {
      this.#pending = true;
      const { status, body } = await send(dialog, sdp, unwanted).finally(() => {
        this.#pending = false;
      });
      if (status < 300) {
        dialog.local.sdp = sdp;
        return body;
      }
      // It crossed a re-INVITE of the phone.
      if (status !== 491 || attempt === GLARE_ATTEMPTS || unwanted?.aborted === true) throw new ReinviteRefused(status);
      await new Promise((resolve) => setTimeout(resolve, glarePause(dialog)));
    }
  }
}

/** Milliseconds: the owner of the Call-ID waits longer, so that both do not cross again (section 14.1). */
function glarePause({ type }: SrfDialog): number {
  return type === 'uac' ? 2100 + Math.random() * 1900 : Math.random() * 2000;
}

/** Without the dialog's methods: after a refusal `modify` never settles, and `request` acknowledges it twice. */
function send(dialog: SrfDialog, sdp: string, unwanted: AbortSignal | undefined): Promise<SrfIncomingResponse> {
  const { contact } = dialog.local;
  const headers: Record<string, string> = contact === undefined ? {} : { Contact: contact };
  return new Promise((resolve, reject) => {
    const options = { method: 'INVITE', stackDialogId: dialog.id, headers, body: sdp };
    // The SIP server inserts the dialog's URI.
    dialog.srf.request('sip:placeholder', options, (err, req) => {
      if (req === undefined) {
        reject(err);
        return;
      }
      const cancel = (): void => req.cancel();
      if (unwanted?.aborted === true) cancel();
      else unwanted?.addEventListener('abort', cancel, { once: true });
      req.on('response', (res: SrfIncomingResponse, acknowledge: () => void) => {
        if (res.status < 200) return;
        unwanted?.removeEventListener('abort', cancel);
        if (res.status < 300) acknowledge();
        resolve(res);
      });
    });
  });
}
