/** A NATS server as an operator names it. */
export interface NatsAddress {
  /** `host:port` */
  readonly address: string;
  readonly secure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
}
