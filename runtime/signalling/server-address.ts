/** Address and secret of a drachtio-server's app port. */
export interface SipServerAddress {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  /** True for a server of another site, which gets calls when no other is connected. */
  readonly isRemote?: boolean;
}
