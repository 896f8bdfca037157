/** Where a call would go and which phones would ring, told without calling anybody. The switch implements it. */

export interface DialledCall {
  /** Whose numbers and logins they are. */
  readonly domain: string;
  /** Number or login, without DTMF tail. */
  readonly dialled: string;
  /** Whether `dialled` is a number (default) or a login. */
  readonly mode?: 'number' | 'sipuser';
  /** The device is to answer by itself. */
  readonly useIntercom?: boolean;
  /** Number of the caller; absent for a call that the platform starts. */
  readonly caller?: string;
}

export interface CallPreview {
  /** What is dialled. */
  readonly number: string;
  /** What the number means; `none`: nobody. */
  readonly route: 'sipuser' | 'provider' | 'scenario' | 'conference' | 'pickup' | 'none';
  /** Whose account, trunk, scenario or room it is. */
  readonly domain: string;
  /** The login, the code of provider or scenario, the room number, or the number whose calls are picked up. */
  readonly target?: string;
  /** Prefix of the featurecode that takes part. */
  readonly featurecode?: string;
  /** How many phones or gateways would be called; a scenario or a room answers by itself. */
  readonly phones: number;
  /** Their URIs. */
  readonly contacts: readonly string[];
  /** Why nobody would be called. */
  readonly reason?: string;
  /** Number under which the called party calls others; absent for a scenario or a room. */
  readonly ownNumber?: string;
}

export type CallPreviews = (call: DialledCall) => CallPreview;
