/** The SIP side of a phone's leg, which may be at another node. */
import type {
  DialogTags,
  IncomingInvite,
  RequestSource,
  SdpOrigin,
  SipDialog,
  SipDialogPlace,
} from '../../signalling/index.ts';
import type { FarEndWish } from '../../media/index.ts';

/** An INVITE that a leg answers: of this node's SIP server, or of another node's. */
export type InviteLine = Pick<
  IncomingInvite,
  'callId' | 'sdp' | 'via' | 'source' | 'tags' | 'cancelled' | 'header' | 'progress' | 'reject'
> & { accept(sdp: string, room?: string): Promise<DialogLine> };

/** The SIP dialog of a leg: of this node's SIP server, or of another node's. */
export type DialogLine = Pick<
  SipDialog,
  'callId' | 'tags' | 'place' | 'handle' | 'bye' | 'reinvite' | 'request' | 'notify' | 'sendDtmf'
>;

/** An INVITE without its final answer. */
export interface MovedInvite {
  readonly callId: string;
  readonly sdp: string;
  readonly via?: string | undefined;
  readonly source: RequestSource;
  /** Those that a call looks at. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A SIP dialog. */
export interface MovedDialog {
  readonly callId: string;
  readonly tags: DialogTags;
  /** Where the SIP server has it, so that the phone can be released when its home is dead. */
  readonly place?: SipDialogPlace | undefined;
  /** For the endpoint that the next node makes. */
  readonly wish: FarEndWish;
  readonly description: SdpOrigin;
  readonly held: boolean;
}
