/** What the leg of a phone needs from the node, and from a call that was answered or comes from another node. */
import type { Directory } from '../../domain/index.ts';
import type { DomainName } from '../../domain-name/index.ts';
import type { FarEndWish, MediaEndpoint, MediaFigures, PlacedEndpointWish } from '../../media/index.ts';
import type { LocalDescription, Log, ReferAnswer, ReferRequest } from '../../signalling/index.ts';
import type { DialogLine } from '../lines/line.ts';
import type { PhoneLeg } from './phone-leg.ts';

/** Receives what the media server counted of a leg. It must not throw. */
export interface MediaObserver {
  mediaEnded(side: { readonly domain: DomainName; readonly trunk: string | undefined }, media: MediaFigures): void;
}

/** What a phone leg needs from the node. */
export interface PhoneLegTools {
  readonly log: Pick<Log, 'warn'>;
  readonly directory: Pick<Directory, 'domain'>;
  createEndpoint(wish: PlacedEndpointWish): Promise<MediaEndpoint>;
  failed(err: unknown, what: string, leg: { callid: string }): void;
  /** Follows work that outlives the leg; a failure is logged. */
  background(work: Promise<unknown>, what: string, leg: { callid: string }): void;
  /** Receives the figures of the media at its end. */
  readonly observer?: MediaObserver | undefined;
  /** Handles the REFER of the phone. @returns the answer to it */
  refer(leg: PhoneLeg, request: ReferRequest): ReferAnswer | Promise<ReferAnswer>;
}

/** A phone that was called and answered. */
export interface AnsweredPhone {
  readonly sip: DialogLine;
  readonly endpoint: MediaEndpoint;
  /** The session description of the INVITE. */
  readonly description: LocalDescription;
  /** Event packages that the device listed, lower case. */
  readonly allowEvents: readonly string[];
}

/** An answered phone whose call comes from another node. It has no endpoint here before `prepareMedia`. */
export interface ArrivedPhone extends Pick<AnsweredPhone, 'sip' | 'description' | 'allowEvents'> {
  readonly callid: string;
  /** For its endpoint. */
  readonly wish: FarEndWish;
  readonly held: boolean;
}
