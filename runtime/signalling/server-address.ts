/** Address and secret of a drachtio-server's app port. */
export interface SipServerAddress {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
}
