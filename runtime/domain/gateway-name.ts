/** The name of a gateway in states, events, histories and logs. */

/** `host:port`, over TCP `host:port;transport=tcp`. @param host without the brackets of an IPv6 address */
export function gatewayName(at: { readonly host: string; readonly port: number; readonly transport: string }): string {
  const { host, port, transport } = at;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return transport === 'udp' ? address : `${address};transport=${transport}`;
}
