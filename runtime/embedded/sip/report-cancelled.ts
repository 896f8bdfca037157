import type { SipRequest, Source } from '../stack/index.ts';
import type { Core } from './core.ts';
import { metaOf, networkFields } from './frame-fields.ts';
import type { IncomingRequest } from './incoming-requests.ts';

/** Reports the CANCEL of an already answered INVITE to the application, and removes its early dialog. */
export function reportCancelled(core: Core, record: IncomingRequest, cancel: SipRequest, source: Source): void {
  const { dialog, app, transaction } = record;
  // drachtio-server reports the INVITE's size here.
  const meta = { ...metaOf(cancel, source), size: transaction.request.wireSize };
  app.send(networkFields(meta, record.id, dialog?.id ?? ''), cancel.head(), cancel.body);
  core.incoming.answered(record);
  if (dialog?.state === 'early') core.dialogs.remove(dialog);
}
