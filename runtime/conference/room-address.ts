/** Where a room is. */
export interface RoomAddress {
  readonly domain: string;
  /** Dialled after the featurecode, decimal digits. */
  readonly confroomnum: string;
  /** Featurecode and room number: what is dialled. */
  readonly number: string;
  /** `<sip:NUMBER@DOMAIN>` */
  readonly uri: string;
}
