/** Preview of a call's routing and of the phones that would ring, without a call. The switch implements it. */
import type { DomainName } from '../../domain-name/index.ts';

export interface DialledCall {
  /** Domain of the numbers and logins. */
  readonly domain: DomainName;
  /** Number or login, without a DTMF tail. */
  readonly dialled: string;
  /** Kind of `dialled`: a number (default) or a login. */
  readonly mode?: 'number' | 'sipuser';
  /** The device should answer by itself. */
  readonly useIntercom?: boolean;
  /** Number of the caller; absent for a call by the platform. */
  readonly callerNumber?: string;
}

export interface CallPreview {
  /** The dialled number or login. */
  readonly number: string;
  /** Meaning of the number; `none`: unknown. */
  readonly route: 'sipuser' | 'provider' | 'scenario' | 'conference' | 'pickup' | 'none';
  /** Domain of the account, trunk, scenario or room. */
  readonly domain: DomainName;
  /** The login, the code of provider or scenario, the room number, or the number whose calls are picked up. */
  readonly target?: string;
  /** Prefix of the featurecode in use. */
  readonly featurecode?: string;
  /** Number of called phones or gateways; a scenario or a room answers by itself. */
  readonly phones: number;
  /** Their URIs. */
  readonly contacts: readonly string[];
  /** The reason why no phone would ring. */
  readonly reason?: string;
  /** Caller number of the called party; absent for a scenario or a room. */
  readonly ownNumber?: string;
}

export type CallPreviews = (call: DialledCall) => CallPreview;
