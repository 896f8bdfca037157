/** The door of this room: what other rooms use of it. */
export { parseAllowEvents } from './allow-events.ts';
export { answer, type SipAnswer } from './answers.ts';
export { DigestAuthenticator, type DigestSecret } from './digest.ts';
export { dtmfOfInfo } from './dtmf-info.ts';
export { headerOf } from './header-of.ts';
export { bareHost } from './hostports.ts';
export { type IncomingInvite, type RequestSource, sourceOf } from './incoming-invite.ts';
export type { WaitingInvite } from './left-waiting.ts';
export type { Log, SipHandlers } from './link.ts';
export { SipLinks } from './links.ts';
export { listValues } from './list-values.ts';
export type { OutgoingInvite, OutgoingInviteOptions, OutgoingInviteResult } from './outgoing-invite.ts';
export type { OutgoingMessageOptions } from './outgoing-message.ts';
export type { OutgoingOptionsOptions } from './outgoing-options.ts';
export { ANONYMOUS, ANONYMOUS_NAME, callerAddr, WITHHELD, withholdsIdentity } from './privacy.ts';
export type { MessageTap } from './message-tap.ts';
export type { NotifierDialog, NotifyResult, OutgoingNotifyOptions } from './outgoing-notify.ts';
export { parseReferTo, type ReferTarget } from './refer-to.ts';
export { rawHeader } from './raw-header.ts';
export type { RegistrationOptions, RegistrationOutcome, SipCredentials } from './registration.ts';
export { ReinviteRefused } from './reinvite.ts';
export { type DialogTags, namesDialog, parseReplaces, type Replaces } from './replaces.ts';
export { type RingingInvite, RingingJournal } from './ringing-journal.ts';
export { LocalDescription, type SdpOrigin } from './sdp.ts';
export { sendableStatus } from './sendable-status.ts';
export type {
  ReferAnswer,
  ReferRequest,
  ReinviteAnswer,
  SipDialog,
  SipDialogHandlers,
  SipDialogPlace,
} from './sip-dialog.ts';
export { bracketUri, displayName, nameAddr, parseSipUri, plainUri } from './sip-uri.ts';
export type { SrfRequest, SrfResponse } from './srf-types.ts';
export { readExpires, readSubscribe, type SubscribeRequest, tagOf } from './subscribe-request.ts';
export { readTextBody } from './text-body.ts';
export { readWireFrame, type WireMessage } from './wire-frame.ts';
