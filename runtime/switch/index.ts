/** The door of this room: what other rooms use of it. */
export type { LiveCall } from './dialogs/live-call.ts';
export { RETRY_AT_LIMIT } from './dialogs/domain-limit.ts';
export { Admission } from './incoming/admission.ts';
export { ArrivalQueue } from './incoming/arrival-queue.ts';
export { OverloadNotice } from './incoming/overload-notice.ts';
export { SetupQueue } from './incoming/setup-queue.ts';
export { DigestBan } from './registrations/digest-ban.ts';
export { SourceRate } from './registrations/source-rate.ts';
export { endCallsOf } from './ports/removed-domain.ts';
export type { ListenTo } from './sound/call-media.ts';
export { type CallDuties, Switch } from './switch.ts';
