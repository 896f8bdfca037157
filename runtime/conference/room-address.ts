import type { DomainName } from '../domain-name/index.ts';

/** Address of a room. */
export interface RoomAddress {
  readonly domain: DomainName;
  /** Decimal digits dialled after the featurecode. */
  readonly confroomnum: string;
  /** Featurecode and room number: the dialled string. */
  readonly number: string;
  /** `<sip:NUMBER@DOMAIN>` */
  readonly uri: string;
}
