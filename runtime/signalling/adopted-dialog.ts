/** SIP dialogs that another application made. */
import SrfClass from 'drachtio-srf';
import { SipDialog, type SipDialogOptions, type SipDialogPlace } from './sip-dialog.ts';
import type { Srf, SrfDialog } from './srf-types.ts';

/** What the library reads of the messages that made a dialog. */
interface Message {
  readonly method: string;
  readonly uri: string;
  readonly body: string;
  get(name: string): string | undefined;
  getParsedHeader(name: string): unknown;
}

interface Library {
  readonly app: object;
  addDialog(dialog: SrfDialog): void;
}

type DialogClass = new (
  srf: Srf,
  type: 'uac',
  made: { readonly req: Message; readonly res: Message & { readonly agent: object; readonly stackDialogId: string } },
) => SrfDialog;

/**
 * Goes on with a dialog that another application made at the same SIP server. Requests to the phone work at once: the server knows
 * the dialog by its id. What the phone sends comes here when the server gives a dialog to the application that uses it: the embedded
 * server does, drachtio-server 0.9.10 answers 481.
 */
export function adoptDialog(srf: Srf, place: SipDialogPlace, options: SipDialogOptions): SipDialog {
  const { Dialog } = SrfClass as unknown as { readonly Dialog: DialogClass };
  const library = srf as unknown as Library;
  const message = (tag: string): Message => ({
    method: 'INVITE',
    uri: '',
    body: '',
    get: (name) => (name.toLowerCase() === 'call-id' ? place.callId : undefined),
    // The Contact comes as a list, From and To as one.
    getParsedHeader: (name) => (name.toLowerCase() === 'contact' ? [{ uri: '' }] : { params: { tag } }),
  });
  const dialog = new Dialog(srf, 'uac', {
    req: message(place.localTag),
    res: { ...message(place.remoteTag), agent: library.app, stackDialogId: place.dialog },
  });
  library.addDialog(dialog);
  return new SipDialog(dialog, options);
}
