/** A session description for tests without media. */
export function sdp(port = 20_000, version = 1, direction = 'sendrecv'): string {
  return [
    'v=0',
    `o=app 1001 ${version} IN IP4 127.0.0.1`,
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${port} RTP/AVP 0 101`,
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    `a=${direction}`,
    '',
  ].join('\r\n');
}
