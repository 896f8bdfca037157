/** Early dialogs with ringing phones. */
import { parseAllowEvents } from './allow-events.ts';
import { headerOf } from './header-of.ts';
import type { SipDialog } from './sip-dialog.ts';
import type { DialogTags } from './replaces.ts';
import { parseSipUri } from './sip-uri.ts';
import type { Srf, SrfIncomingResponse } from './srf-types.ts';

/**
 * The early dialog with a ringing phone (RFC 3261 section 12.1). The SIP server has it after a reliable provisional answer
 * (RFC 3262). It keeps none for others; so a NOTIFY is sent with the dialog's Call-ID, tags and next CSeq, which make it
 * part of the dialog.
 */
export class EarlyDialog {
  #response: SrfIncomingResponse | undefined;
  #nextHop: string | undefined;
  #sent = 0;
  #allowEvents: readonly string[] = [];
  /** By the far end's tag: a forking proxy may ring several phones (section 12.1). */
  readonly #tags = new Map<string, DialogTags>();

  get allowEvents(): readonly string[] {
    return this.#allowEvents;
  }

  /** Tags of all early dialogs of the INVITE. */
  get tags(): readonly DialogTags[] {
    return [...this.#tags.values()];
  }

  /** @param nextHop of the INVITE, if not its request URI */
  learn(response: SrfIncomingResponse, nextHop: string | undefined): void {
    const listed = parseAllowEvents(headerOf(response, 'Allow-Events'));
    if (listed.length > 0) this.#allowEvents = listed;
    if (response.status > 100) {
      const remote = tagOf(response.get('To'));
      this.#tags.set(remote, { local: tagOf(response.get('From')), remote });
      if (remote !== '') this.#response = response;
    }
    this.#nextHop = nextHop;
  }

  /** False while the phone has not created a dialog. */
  notify(srf: Srf, event: string, failed: (err: unknown) => void): boolean {
    const response = this.#response;
    const contact = /<([^>]+)>/.exec(response?.get('Contact') ?? '')?.[1];
    if (response === undefined || contact === undefined || parseSipUri(contact) === undefined) return false;
    const done = (err: unknown): void => {
      if (err !== null && err !== undefined) failed(err);
    };
    const state = { Event: event, 'Subscription-State': 'active' };
    const { stackDialogId } = response;
    if (response.has('RSeq') && stackDialogId !== undefined) {
      srf.request(contact, { method: 'NOTIFY', stackDialogId, headers: state, body: '' }, done);
      return true;
    }
    this.#sent += 1;
    const cseq = Number.parseInt(response.get('CSeq') ?? '', 10) + this.#sent;
    const headers = {
      ...state,
      'Call-ID': response.get('Call-ID') ?? '',
      From: response.get('From') ?? '',
      To: response.get('To') ?? '',
      CSeq: `${cseq} NOTIFY`,
    };
    const proxy = this.#nextHop === undefined ? {} : { proxy: this.#nextHop };
    srf.request(contact, { method: 'NOTIFY', headers, ...proxy }, done);
    return true;
  }

  /**
   * The SIP server continues counting from the INVITE's CSeq. Requests that the phone may ignore use up the numbers of
   * the NOTIFYs, so that the next important one is not out of order (section 12.2.2).
   */
  catchUp(dialog: SipDialog): void {
    for (; this.#sent > 0; this.#sent -= 1) dialog.request('OPTIONS', {}).catch(() => undefined);
  }
}

/** Empty without a tag. */
function tagOf(nameAddress = ''): string {
  return /;\s*tag\s*=\s*([^\s;,>]+)/i.exec(nameAddress.slice(nameAddress.lastIndexOf('>') + 1))?.[1] ?? '';
}
